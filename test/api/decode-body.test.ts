import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { collectStart, decodeBody, isMediaType, JSON_TYPE, readEncoding } from '../../src/api/decode-body.js';
import type { Answer } from '../../src/api/transport.js';

async function* send(...chunks: (string | Error)[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) {
    if (chunk instanceof Error) throw chunk;
    yield Buffer.from(chunk);
  }
}

test.each([
  [undefined, 'identity'],
  ['', 'identity'],
  [' Identity ', 'identity'],
  [' GZIP ', 'gzip'],
  ['x-gzip', 'gzip'],
  ['br', undefined],
  ['gzip, br', undefined],
])('a response with content-encoding %j is decoded as %s', (encoding, read) => {
  expect(readEncoding(encoding === undefined ? {} : { 'content-encoding': encoding })).toBe(read);
});

test('the start of a body ends at a fault or at the wanted length, and no further chunk is read', async () => {
  expect(String(await collectStart(send('ab', new Error('broke')), 5))).toBe('ab');
  expect(String(await collectStart(send('abc', 'def'), 5))).toBe('abcde');
  const body = send('abc', 'de', 'f');
  expect(String(await collectStart(body, 5))).toBe('abcde');
  expect(await body.next()).toMatchObject({ done: true });
  let read = 0;
  async function* count() {
    for (;;) {
      read += 1;
      yield Buffer.from('abc');
    }
  }
  expect(String(await collectStart(count(), 6))).toBe('abcabc');
  expect(read).toBe(2);
});

test('a gzip body is read no faster than its reader consumes it', async () => {
  const packed = gzipSync(randomBytes(8 * 1024 * 1024), { level: 0 });
  let taken = 0;
  async function* body() {
    for (; taken < packed.length; taken += 64 * 1024) yield packed.subarray(taken, taken + 64 * 1024);
  }
  const answer = { headers: { 'content-encoding': 'gzip' }, body: body() } as unknown as Answer;
  let size = 0;
  for await (const piece of decodeBody(answer)) {
    if (size === 0) {
      for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
      expect(taken).toBeLessThan(packed.length / 2);
    }
    size += piece.length;
  }
  expect(size).toBe(8 * 1024 * 1024);
});

test.each([
  ['application/json', true],
  [' Application/JSON ; charset=UTF-8', true],
  ['application/json;charset="utf8"', true],
  ['application/json; profile=x; charset=utf-8', true],
  ['application/json; charset=utf-16', false],
  ['application/json; charset=xutf-8', false],
  ['application/json; charset=utf-8x', false],
  ['application/json; mycharset=utf-16', true],
  ['application/json2', false],
  ['text/html; charset=utf-8', false],
  ['', false],
  [undefined, false],
])('the content type %j counts as JSON in UTF-8: %j', (header, answer) => {
  expect(isMediaType(header, JSON_TYPE)).toBe(answer);
});
