import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { ClientOptions } from '../../src/api/client.js';
import { catchError, readAll, sendJson, startService } from './local-service.js';

const NDJSON = { 'content-type': 'application/x-ndjson' };
const QUERY = { format: 'ndjson' };

/** An export that begins with these bytes and does not end by itself, opened. */
async function openEndless(bytes: string | Buffer, options: Partial<ClientOptions> = {}, headers = {}) {
  const { client } = await startService((_request, response) => {
    response.writeHead(200, { ...NDJSON, ...headers });
    response.write(bytes);
  }, options);
  return { client, ...(await client.stream('/export', QUERY)) };
}

test('an export arrives complete and in order, with its headers', async () => {
  const sent = randomBytes(8 * 1024 * 1024);
  const { client, requests } = await startService((_request, response) => {
    response.writeHead(200, { ...NDJSON, 'x-export-rows': '42' });
    response.end(sent);
  });
  const { body, headers } = await client.stream('/export', QUERY);
  expect((await readAll(body)).equals(sent)).toBe(true);
  expect(headers['x-export-rows']).toBe('42');
  expect(requests[0]?.headers.accept).toBe('application/x-ndjson, application/json;q=0.9');
});

test('a gzip export is decoded', async () => {
  const text = '{"id":1}\n'.repeat(500_000);
  const { client } = await startService((_request, response) => {
    response.writeHead(200, { ...NDJSON, 'content-encoding': 'gzip' });
    response.end(gzipSync(text));
  });
  const { body } = await client.stream('/export', QUERY);
  expect((await readAll(body)).toString() === text).toBe(true);
});

test.each([
  ['HTML', 'text/html', 'ndjson'],
  ['CSV instead of NDJSON', 'text/csv', 'ndjson'],
  ['NDJSON instead of CSV', 'application/x-ndjson', 'csv'],
  ['another charset', 'text/csv; charset=iso-8859-1', 'csv'],
])('%s is a contract error before any byte is passed on', async (_what, type, format) => {
  const { client } = await startService((_request, response) => {
    response.writeHead(200, { 'content-type': type });
    response.end('something');
  });
  expect((await catchError(client.stream('/export', { format }))).code).toBe('contract');
});

test('a 5xx or a rate limit before the export begins is retried', async () => {
  const { client, urls } = await startService((_request, response, count) => {
    if (count < 3) return sendJson(response, count === 1 ? 500 : 429, {});
    response.writeHead(200, NDJSON);
    response.end('{}\n');
  });
  await readAll((await client.stream('/export', QUERY)).body);
  expect(urls).toHaveLength(3);
});

test("an export whose request got no response isn't requested again, because it may have been billed", async () => {
  const { client, urls } = await startService((request) => request.socket.destroy());
  const error = await catchError(client.stream('/export', QUERY));
  expect(error.code).toBe('unavailable');
  expect(error.facts.midStream).toBe(true);
  expect(urls).toHaveLength(1);
});

const GZIP = { 'content-encoding': 'gzip' };
const FIRST = '{"id":1}\n{"id":2}\n';
const PACKED = gzipSync(randomBytes(300_000));
const DAMAGED = Buffer.from(PACKED);
DAMAGED.writeUInt32LE(0, DAMAGED.length - 8);

test.each([
  ['cut between chunks', {}, Buffer.from(FIRST), true, 'the connection closed early'],
  [
    'shorter than its content-length',
    { 'content-length': '1000' },
    Buffer.from(FIRST),
    true,
    'the connection closed early',
  ],
  ['with truncated gzip', GZIP, PACKED.subarray(0, -20), false, 'the gzip body ends early'],
  ['with an empty gzip body', GZIP, Buffer.alloc(0), false, 'the gzip body ends early'],
  ['with a wrong checksum', GZIP, DAMAGED, false, 'the gzip body is damaged'],
  ['that declares gzip but is not compressed', GZIP, Buffer.from(FIRST), false, 'the gzip body is damaged'],
])('an export %s ends with an error and is not requested again', async (_how, headers, bytes, drop, reason) => {
  const { client, io, urls } = await startService((request, response) => {
    response.writeHead(200, { ...NDJSON, ...headers });
    if (drop) response.write(bytes, () => request.socket.destroySoon());
    else response.end(bytes);
  });
  const { body } = await client.stream('/export', QUERY);
  await wait(20); // the fault comes before the reader: it must not be lost, nor end the process
  const error = await catchError(readAll(body));
  expect(error.code).toBe('unavailable');
  expect(error.message).toContain(reason);
  expect(error.facts.midStream).toBe(true);
  expect(urls).toHaveLength(1);
  expect(io.slept).toEqual([]);
});

test('bytes received before a fault are passed on', async () => {
  const { client } = await startService((request, response) => {
    response.writeHead(200, NDJSON);
    response.write(FIRST, () => request.socket.destroySoon());
  });
  const { body } = await client.stream('/export', QUERY);
  let text = '';
  const read = async () => {
    for await (const chunk of body) text += chunk.toString();
  };
  const error = await catchError(read());
  expect(error.message).toMatch(
    /^GET \/api\/v1\/export: the response was cut off after 18 bytes \(the connection closed early\)$/,
  );
  expect(error.facts).toStrictEqual({
    midStream: true,
    receivedBytes: 18,
    host: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    hint: 'Try again later.',
  });
  expect(error.cause).toBeInstanceOf(Error);
  expect(text).toBe(FIRST);
});

test("a slow reader makes the service wait, which doesn't count as a stall", async () => {
  const piece = Buffer.alloc(256 * 1024, 'x');
  const total = 200;
  let written = 0;
  const { client } = await startService(
    (_request, response) => {
      response.writeHead(200, NDJSON);
      const write = () => {
        let full = false;
        for (; written < total && !full; written += 1) full = !response.write(piece);
        if (written < total) response.once('drain', write);
        else response.end();
      };
      write();
    },
    { timeouts: { stallMs: 60 } },
  );
  const { body } = await client.stream('/export', QUERY);
  let received = 0;
  let writtenWhileWaiting = total;
  for await (const chunk of body) {
    if (received === 0) {
      await wait(250);
      writtenWhileWaiting = written;
    }
    received += chunk.length;
  }
  expect(received).toBe(total * piece.length);
  expect(writtenWhileWaiting).toBeLessThan(total / 2);
});

test('a stall timeout that fires while the reader pauses the service still ends in an error', async () => {
  const { body } = await openEndless(Buffer.alloc(4 * 1024 * 1024, 'x'), { timeouts: { stallMs: 60 } });
  await wait(150); // the stall timer runs out while the socket is paused
  expect((await catchError(readAll(body))).message).toContain('no data for');
});

test('a reader that stops early closes the connection', async () => {
  let closed = false;
  const { client } = await startService((_request, response) => {
    response.on('close', () => {
      closed = true;
    });
    response.writeHead(200, NDJSON);
    response.write(Buffer.alloc(64 * 1024 * 1024, 'x'));
  });
  for await (const chunk of (await client.stream('/export', QUERY)).body) {
    expect(chunk.length).toBeGreaterThan(0);
    break;
  }
  for (let turn = 0; turn < 100 && !closed; turn += 1) await wait(5);
  expect(closed).toBe(true);
});

test.each([{}, { 'content-encoding': 'gzip' }])(
  'an abort ends a stream with the code stopped (%j)',
  async (headers) => {
    const stop = new AbortController();
    const { body } = await openEndless(PACKED.subarray(0, 250_000), { signal: stop.signal }, headers);
    setTimeout(() => stop.abort(), 20);
    expect((await catchError(readAll(body))).code).toBe('stopped');
  },
);

test('closing the client ends a stream that is not being read', async () => {
  const { client, body } = await openEndless(Buffer.alloc(8 * 1024 * 1024, 'x'));
  await client.close();
  expect((await catchError(readAll(body))).code).toBe('stopped');
});
