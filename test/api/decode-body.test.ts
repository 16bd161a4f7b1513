import { expect, test } from 'vitest';
import { collectBody, collectStart, readEncoding } from '../../src/api/decode-body.js';

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
])('an answer encoded as %j is read as %s', (encoding, read) => {
  expect(readEncoding(encoding === undefined ? {} : { 'content-encoding': encoding })).toBe(read);
});

test('a body is joined whole, and none where it is longer than it may be', async () => {
  expect(String(await collectBody(send('ab', 'cd', 'e'), 5))).toBe('abcde');
  expect(String(await collectBody(send('abcde'), 5))).toBe('abcde');
  expect(String(await collectBody(send(), 5))).toBe('');
  expect(await collectBody(send('ab', 'cd', 'ef'), 5)).toBeUndefined();
  await expect(collectBody(send('ab', new Error('broke')), 5)).rejects.toThrow('broke');
});

test('of a body that breaks off, what came is its beginning; and no more is read than is wanted', async () => {
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
