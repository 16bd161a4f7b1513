import { request } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { Service } from './service.js';

const service = await Service.start({ items: 50 });
afterAll(() => service.close());
const { hostname, port, origin } = new URL(service.sandbox.baseUrl);

/** Uses node:http, because fetch doesn't allow setting the Host header. */
function ask(method: string, path: string, headers: Record<string, string>, body = ''): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, method, headers }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end(body);
  });
}

const ADVANCE = '{"hours":1,"changes":5}';

test.each([
  ['of another site', { origin: 'https://evil.example' }],
  ['of another port', { origin: 'http://127.0.0.1:1' }],
  ['that hides its origin', { origin: 'null' }],
  ['marked as cross-site by an older browser', { 'sec-fetch-site': 'cross-site' }],
  ['under a foreign name that resolves to this machine', { host: `evil.example:${port}` }],
])('a web page %s can change nothing', async (_, headers) => {
  const before = service.sandbox.webhook.status;
  expect(await ask('POST', '/sandbox/advance', headers, ADVANCE)).toBe(403);
  expect(await ask('POST', '/sandbox/webhook', headers, '{"url":"http://127.0.0.1:1/"}')).toBe(403);
  expect(await ask('DELETE', '/sandbox/webhook', headers)).toBe(403);
  expect(service.sandbox.webhook.status).toEqual(before);
});

test.each(['/', '/sandbox', '/sandbox/webhook', '/openapi.json'])(
  'a request under a foreign name that resolves to this machine gets nothing from %s',
  async (path) => {
    expect(await ask('GET', path, { host: `evil.example:${port}` })).toBe(403);
    expect(await ask('GET', path, { host: `localhost:${port}` })).toBe(200);
  },
);

test('programs on this machine can control the sandbox', async () => {
  expect(await ask('POST', '/sandbox/advance', {}, ADVANCE)).toBe(200);
  expect(await ask('POST', '/sandbox/advance', { origin, 'sec-fetch-site': 'same-origin' }, ADVANCE)).toBe(200);
});
