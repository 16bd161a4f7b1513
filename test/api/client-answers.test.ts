import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { planInfo } from '../../src/api/account-contract.js';
import { changePage } from '../../src/api/contract.js';
import type { Io } from '../../src/io/io.js';
import { createFakeIo } from './fake-io.js';
import { catchError, connect, KEY, listen, sendJson, startAnswers, startService } from './local-service.js';

const anything = z.unknown();

test('a call sends the key, accepts gzip and requests the right address', async () => {
  const { client, port, requests } = await startAnswers([[200]]);
  await client.json('/products/a%2Fb', { q: 'a+b', dataset: 9007199254740993n, site: undefined }, anything);
  expect(requests[0]?.url).toBe('/api/v1/products/a%2Fb?q=a%2Bb&dataset=9007199254740993');
  expect(requests[0]?.headers).toMatchObject({
    host: `127.0.0.1:${port}`,
    authorization: `Bearer ${KEY}`,
    'accept-encoding': 'gzip',
    accept: 'application/json',
    'user-agent': 'pricelake',
  });
});

test('each call is traced with its address, its duration, and its status or failure', async () => {
  const io = createFakeIo();
  const { port } = await listen((request, response, count) => {
    io.pass(count * 1500);
    return count === 1 ? request.socket.destroy() : sendJson(response, 200, {});
  });
  const traced: unknown[] = [];
  const log: Io['log'] = (level, event, facts) => level === 'trace' && traced.push([event, facts]);
  const client = connect({ baseUrl: `http://127.0.0.1:${port}` }, { ...io, log });
  await client.bytes('/items', { q: 'a' });
  const target = '/api/v1/items?q=a';
  expect(traced).toEqual([
    ['api.call', { target, failed: true, seconds: 1.5 }],
    ['api.call', { target, status: 200, seconds: 3 }],
  ]);
});

test('a prefix of the base URL is kept in every request', async () => {
  const { port, requests, io } = await startAnswers([[200]]);
  const client = connect({ baseUrl: `http://127.0.0.1:${port}/gateway/prices/` }, io);
  await client.json('/plan', {}, anything);
  expect(requests[0]?.url).toBe('/gateway/prices/api/v1/plan');
});

test('cursors above 2^53 are parsed without rounding', async () => {
  const body = '{"changes":[],"hasMore":false,"nextCursor":9223372036854775807}';
  const { client } = await startAnswers([[200, body]]);
  expect((await client.json('/changes', {}, changePage)).nextCursor).toBe(9223372036854775807n);
});

test('a page is returned as decoded bytes, not parsed, with its headers', async () => {
  const body = '{"content": [{"price": 1.10}]}\n';
  const { client } = await startAnswers([
    [200, body, { 'x-quota-remaining': '7', 'x-echo': `key ${KEY}`, 'set-cookie': ['a=1', 'b=2'] }],
  ]);
  const page = await client.bytes('/items', {});
  expect(page.body.toString()).toBe(body);
  expect(page.headers).toMatchObject({ 'x-quota-remaining': '7', 'x-echo': 'key [key]', 'set-cookie': 'a=1, b=2' });
});

test('a gzip response is decoded', async () => {
  const { client } = await startService((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json;charset=UTF-8', 'content-encoding': 'gzip' });
    response.end(gzipSync('{"a":1}'));
  });
  expect((await client.bytes('/items', {})).body.toString()).toBe('{"a":1}');
});

test('a response in an encoding other than gzip is refused', async () => {
  const { client } = await startAnswers([[200, {}, { 'content-encoding': 'br' }]]);
  const error = await catchError(client.bytes('/items', {}));
  expect(error.code).toBe('contract');
  expect(error.message).toBe('GET /api/v1/items: the response is encoded as br, but only gzip was requested');
});

test('an HTML page with status 200 is a contract error that quotes the beginning of the page', async () => {
  const page = `<html>Log in to the hotel WLAN, ${KEY}</html>`;
  const { client, urls } = await startAnswers([[200, page, { 'content-type': 'text/html' }]]);
  const error = await catchError(client.bytes('/items', {}));
  expect(error.code).toBe('contract');
  expect(error.message).toBe(
    'GET /api/v1/items: expected application/json in UTF-8, but got text/html; the response starts with "<html>Log in to the hotel WLAN, [key]</html>"',
  );
  expect(error.facts.hint).toContain('source.baseUrl');
  expect(urls).toHaveLength(1);
});

test.each(['<html></html>', '', '{"changes": [}', '{"changes": [1, 2', `{"changes": ${KEY}}`])(
  'the body %j as application/json is a contract error',
  async (body) => {
    const { client, urls } = await startAnswers([[200, body]]);
    const error = await catchError(client.json('/changes', {}, changePage));
    expect(error).toMatchObject({ code: 'contract', message: expect.stringContaining('is not JSON') });
    expect(urls).toHaveLength(1);
  },
);

test('a body that is not UTF-8 is a contract error and is not decoded with replacement characters', async () => {
  const { client } = await startService((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
  });
  expect((await catchError(client.json('/plan', {}, anything))).code).toBe('contract');
});

test('a response without a content type is refused, and the error says so', async () => {
  const { client } = await startService((_request, response) => void response.writeHead(200).end('{}'));
  expect((await catchError(client.bytes('/items', {}))).message).toBe(
    'GET /api/v1/items: expected application/json in UTF-8, but got no content type; the response starts with "{}"',
  );
});

test('a contract error names the field, the expected type and the received value', async () => {
  const limits = { ratePerSecond: 'ten', changeFeed: KEY };
  const own = { plan: 'pro', name: 'Pro', status: 'ACTIVE', upgradeUrl: 'https://example.com/plans' };
  const plan = { ...own, trialEndsAt: null, limits, lockedDatasets: 0, usage: null };
  const { client } = await startAnswers([[200, plan]]);
  const error = await catchError(client.json('/plan', {}, planInfo));
  expect(error.code).toBe('contract');
  expect(error.message).toBe(
    'GET /api/v1/plan: limits.ratePerSecond: Invalid input: expected number, received "ten"; limits.changeFeed: Invalid input: expected boolean, received "[key]"',
  );
});

test('a contract error shows a received number with all its digits', async () => {
  const { client } = await startAnswers([[200, '{"changes":[],"hasMore":1,"nextCursor":9223372036854775808.5}']]);
  const error = await catchError(client.json('/changes', {}, changePage));
  expect(error.message).toContain('hasMore: Invalid input: expected boolean, received 1');
  expect(error.message).toContain('nextCursor: Invalid input, received 9223372036854775808.5');
});

test("fields that the API document doesn't name are kept", async () => {
  const { client } = await startAnswers([[200, { changes: [], hasMore: false, nextCursor: 0, newField: 9 }]]);
  expect(await client.json('/changes', {}, changePage)).toMatchObject({ newField: 9 });
});

test('JSON nested 100,000 levels deep is a contract error, in the whole body or in one field', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  for (const body of [deep, `{"plan":"pro","more":${deep}}`, `{"plan":${deep}}`]) {
    const { client } = await startAnswers([[200, body]]);
    const error = await catchError(client.json('/plan', {}, z.looseObject({ plan: z.string() })));
    expect(error.code).toBe('contract');
    expect(error.message).toContain('GET /api/v1/plan: the response is not JSON (nested more than 500 levels deep)');
  }
});

test('megabytes of response headers are a contract error and are not requested again', async () => {
  const { client, urls } = await startService((_request, response) => {
    response.socket?.write(`HTTP/1.1 200 OK\r\nx-big: ${'x'.repeat(2_000_000)}\r\n`);
  });
  const error = await catchError(client.bytes('/items', {}));
  expect(error).toMatchObject({ code: 'contract', facts: { hint: expect.any(String) } });
  expect(error.message).toBe('GET /api/v1/items: the response headers are larger than 16 KiB');
  expect(urls).toHaveLength(1);
});
