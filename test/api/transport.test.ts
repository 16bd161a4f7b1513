import { createServer as createTcpServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createTransport, DEFAULT_TIMEOUTS, type Timeouts } from '../../src/api/transport.js';
import { listen, readAll } from './local-service.js';

function open(origin: string, timeouts: Partial<Timeouts> = {}) {
  const transport = createTransport(origin, { ...DEFAULT_TIMEOUTS, ...timeouts });
  onTestFinished(() => transport.close());
  return transport;
}

/** Returns the port of a server that accepts connections but never responds. */
async function listenSilently(): Promise<number> {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => void sockets.push(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

test('a service that never finishes its TLS handshake times out, and nothing was sent', async () => {
  const transport = open(`https://127.0.0.1:${await listenSilently()}`, { connectMs: 50 });
  const began = performance.now();
  const fault = await transport.get('/', {}).catch((error: unknown) => error);
  expect(fault).toMatchObject({ sent: false, message: 'no answer', cause: { code: 'UND_ERR_CONNECT_TIMEOUT' } });
  expect(performance.now() - began).toBeLessThan(8000);
});

test('header names are lower-cased, and repeated headers are joined', async () => {
  const { port } = await listen((_request, response) => {
    response.writeHead(200, [
      ['X-Export-Rows', '7'],
      ['Via', 'a'],
      ['VIA', 'b'],
    ]);
    response.end();
  });
  const { headers, body } = await open(`http://127.0.0.1:${port}`).get('/', {});
  body.discard();
  expect(headers).toMatchObject({ 'x-export-rows': '7', via: 'a, b' });
});

test('an interim response that arrives in time is skipped', async () => {
  const { port } = await listen((_request, response) => {
    response.writeProcessing();
    response.end('{}');
  });
  const { status, body } = await open(`http://127.0.0.1:${port}`, { headersMs: 1000 }).get('/', {});
  body.discard();
  expect(status).toBe(200);
});

test('closing the transport closes its idle connections', async () => {
  const { server, port } = await listen((_request, response) => void response.end('{}'));
  let closed = false;
  server.on('connection', (socket) => socket.on('close', () => (closed = true)));
  const transport = open(`http://127.0.0.1:${port}`);
  const { body } = await transport.get('/', {});
  for await (const chunk of body) expect(String(chunk)).toBe('{}');
  await transport.close();
  for (let turn = 0; turn < 100 && !closed; turn += 1) await wait(5);
  expect(closed).toBe(true);
});

test("an aborted call rejects with the abort reason, and the service's connection is closed", async () => {
  let closed = false;
  let arrived = () => {};
  const asked = new Promise<void>((resolve) => (arrived = resolve));
  const { port } = await listen((request) => {
    request.socket.on('close', () => (closed = true));
    arrived();
  });
  const transport = open(`http://127.0.0.1:${port}`);
  const answer = transport.get('/', {}).catch((error: unknown) => error);
  await asked;
  const reason = new Error('enough');
  transport.abort(reason);
  expect(await answer).toMatchObject({ sent: true, cause: reason });
  for (let turn = 0; turn < 100 && !closed; turn += 1) await wait(5);
  expect(closed).toBe(true);
});

test('a call aborted before its connection exists rejects at once and is never sent', async () => {
  const { port, requests } = await listen((_request, response) => void response.end('{}'));
  const transport = open(`http://127.0.0.1:${port}`);
  const answer = transport.get('/first', {}).catch((error: unknown) => error);
  const reason = new Error('enough');
  transport.abort(reason);
  expect(await answer).toMatchObject({ sent: false, cause: reason });
  (await transport.get('/second', {})).body.discard();
  expect(requests.map(({ url }) => url)).toEqual(['/second']);
});

test('reading a discarded body rejects with the reason', async () => {
  const { port } = await listen((_request, response) => {
    response.writeHead(200);
    response.write('{');
  });
  const { body } = await open(`http://127.0.0.1:${port}`).get('/', {});
  body.discard();
  await expect(readAll(body)).rejects.toThrow('the rest of the body is not wanted');
});

test('the default timeouts are 10 s to connect, two minutes for headers and one minute for a page', () => {
  expect(DEFAULT_TIMEOUTS).toEqual({
    connectMs: 10_000,
    headersMs: 120_000,
    stallMs: 60_000,
    bodyMs: 60_000,
    exportPace: { windowMs: 120_000, minBytes: 65_536 },
  });
});
