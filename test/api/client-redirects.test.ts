import { expect, test } from 'vitest';
import { catchError, KEY, listen, sendJson, startService } from './local-service.js';

function redirect(location: string | undefined, status = 302) {
  return startService((request, response) => {
    if (request.url?.startsWith('/moved')) return sendJson(response, 200, { moved: true });
    response.writeHead(status, location === undefined ? {} : { location });
    response.end();
  });
}

test.each([301, 302, 303, 307, 308])(
  'a redirect with status %i within the origin is followed and counted as a call',
  async (status) => {
    const { client, urls } = await redirect('/moved?x=%2B', status);
    expect((await client.bytes('/items', {})).body.toString()).toBe('{"moved":true}');
    expect(urls).toEqual(['/api/v1/items', '/moved?x=%2B']);
    expect(client.calls()).toBe(2);
  },
);

test('a redirect to another port is refused, and the key is not sent there', async () => {
  const other = await listen((_request, response) => sendJson(response, 200, {}));
  const { client } = await redirect(`http://127.0.0.1:${other.port}/moved`);
  const error = await catchError(client.bytes('/items', {}));
  expect(error.code).toBe('contract');
  expect(error.message).toContain(`http://127.0.0.1:${other.port}`);
  expect(error.facts.hint).toBe(`If http://127.0.0.1:${other.port} is the service, set source.baseUrl to it.`);
  expect(other.requests).toHaveLength(0);
});

test.each([
  ['another scheme', (port: number) => `https://127.0.0.1:${port}/moved`],
  ['another host', (port: number) => `//localhost:${port}/moved`],
  ['a file address', () => 'file:///etc/passwd'],
  ['an address with the key', () => `https://evil.example/?${KEY}`],
  ['a broken address', () => 'http://[broken'],
  ['an absent address', () => undefined],
])('a redirect to %s is refused', async (_what, locate) => {
  const service = await startService((request, response) => {
    const location = locate(request.socket.localPort ?? 0);
    response.writeHead(302, location === undefined ? {} : { location });
    response.end();
  });
  const error = await catchError(service.client.bytes('/items', {}));
  expect(error).toMatchObject({
    code: 'contract',
    message: expect.stringMatching(/^GET \/api\/v1\/items: a redirect (?:leads to|has no target address)/),
    facts: { hint: expect.stringContaining('source.baseUrl') },
  });
  expect(service.urls).toHaveLength(1);
});

test('credentials in a redirect are ignored, and the key is sent as before', async () => {
  const { client, requests } = await startService((request, response, count) => {
    if (count === 2) return sendJson(response, 200, {});
    response.writeHead(302, { location: `http://a:b@127.0.0.1:${request.socket.localPort}/moved` }).end();
  });
  await client.bytes('/items', {});
  expect(requests[1]?.headers.authorization).toBe(`Bearer ${KEY}`);
});

test('following a redirect waits for its turn in the call rate', async () => {
  const { client, io } = await redirect('/moved');
  client.setRate(4);
  await client.bytes('/items', {});
  expect(io.slept).toEqual([250]);
});

test('a redirect loop is refused after three redirects', async () => {
  const { client, urls } = await redirect('/api/v1/items');
  const error = await catchError(client.bytes('/items', {}));
  expect(error.code).toBe('contract');
  expect(error.message).toBe('GET /api/v1/items: more than 3 redirects');
  expect(error.facts.hint).toBe('Check source.baseUrl.');
  expect(urls).toHaveLength(4);
});
