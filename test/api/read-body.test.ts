import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { AttemptContext, Request } from '../../src/api/attempt.js';
import { readPage } from '../../src/api/attempt.js';
import type { BodyQueue } from '../../src/api/body-queue.js';
import { catchError, startService } from './local-service.js';

const CUT = '{"a":[1,2';
const SYNTAX = { message: `GET /api/v1/items: the response is not JSON; it starts with ${JSON.stringify(CUT)}` };

/** A service that sends these bytes as they are, and closes the connection. */
function startRaw(headers: string, body: string | Buffer) {
  return startService(
    (request, response) => {
      request.socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n${headers}\r\n`);
      request.socket.end(body);
      response.detachSocket(request.socket);
    },
    { attempts: 2 },
  );
}

test('a truncated page that only the closed connection ends is requested again, and then reported as broken off', async () => {
  const { client, urls, port } = await startRaw('', CUT);
  const error = await catchError(client.bytes('/items', {}));
  expect(error.message).toBe('GET /api/v1/items: the response was cut off, after 2 attempts');
  expect(error.facts).toEqual({ host: `127.0.0.1:${port}`, hint: 'Try again later.', attempts: 2 });
  expect(urls).toHaveLength(2);
});

test('the error for a page that breaks off has the connection fault as its cause', async () => {
  const { client, urls } = await startRaw('content-length: 100\r\n', CUT);
  const error = await catchError(client.bytes('/items', {}));
  expect(error.message).toBe(
    'GET /api/v1/items: the response was cut off (the connection closed early), after 2 attempts',
  );
  expect(error.cause).toBeInstanceOf(Error);
  expect(urls).toHaveLength(2);
});

test.each([
  ['its length', `content-length: ${CUT.length}\r\n`, CUT],
  ['gzip', 'content-encoding: gzip\r\n', gzipSync(CUT)],
  ['chunks', 'transfer-encoding: chunked\r\n', `${CUT.length.toString(16)}\r\n${CUT}\r\n0\r\n\r\n`],
])('a page that is complete by %s but not JSON is refused and not requested again', async (_by, headers, body) => {
  const { client, urls } = await startRaw(headers, body);
  expect(await catchError(client.bytes('/items', {}))).toMatchObject({ code: 'contract', ...SYNTAX });
  expect(urls).toHaveLength(1);
});

test('a page of more than 256 MiB is refused', async () => {
  const piece = Buffer.alloc(1024 * 1024);
  const body = (async function* () {
    for (let sent = 0; sent <= 256; sent += 1) yield piece;
  })() as AsyncIterable<Buffer> as BodyQueue;
  const request = { where: 'GET /api/v1/items' } as Request;
  await expect(readPage({ status: 200, headers: {}, body }, request, {} as AttemptContext)).rejects.toThrow(
    expect.objectContaining({
      code: 'contract',
      message: 'GET /api/v1/items: the response is longer than 268435456 bytes',
    }),
  );
});

test('after an abort, no more of an export is passed on, even if more has arrived', async () => {
  const stop = new AbortController();
  const { client } = await startService(
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' });
      response.end(gzipSync(Buffer.alloc(4 * 1024 * 1024)));
    },
    { signal: stop.signal },
  );
  const { body } = await client.stream('/export', { format: 'ndjson' });
  let pieces = 0;
  const read = async () => {
    for await (const _piece of body) {
      pieces += 1;
      stop.abort();
    }
  };
  expect(await catchError(read())).toMatchObject({ code: 'stopped', message: 'GET /api/v1/export: stopped' });
  expect(pieces).toBe(1);
});
