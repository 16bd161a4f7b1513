import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import type { ClientOptions } from '../../src/api/client.js';
import { realIo } from '../../src/io/real-io.js';
import { createFakeIo } from './fake-io.js';
import {
  catchError,
  connect,
  expectNoKey,
  type Handler,
  KEY,
  listen,
  sendJson,
  startAnswers,
  startService,
} from './local-service.js';

const RATE_BODY = { status: 429, error: 'Too Many Requests', message: 'Slow down', limit: 'ratePerSecond' };

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('an HTML 5xx and a dropped connection are retried with growing waits and logged without the query', async () => {
  const { client, io, urls } = await startService((request, response, count) => {
    if (count === 1) {
      response.writeHead(502, { 'content-type': 'text/html' });
      response.end(`<html>Bad gateway ${KEY}</html>`);
    } else if (count === 2) request.socket.destroy();
    else sendJson(response, 200, {});
  });
  await client.bytes('/items', { q: 'confidential' });
  expect(urls).toHaveLength(3);
  expect([client.calls(), client.refusedCalls()]).toEqual([3, 2]);
  expect(io.slept).toEqual([250, 500]);
  expect(io.events.map(({ level, event, facts }) => [level, event, facts.path, facts.attempt, facts.waitMs])).toEqual([
    ['warn', 'api.retry', '/api/v1/items', 1, 250],
    ['warn', 'api.retry', '/api/v1/items', 2, 500],
  ]);
  expectNoKey(io.events);
  expect(JSON.stringify(io.events)).not.toContain('confidential');
});

test("a lasting 5xx ends as unavailable with the status, the attempts and the service's message", async () => {
  const maintenance = { status: 503, message: 'Maintenance', docsUrl: 'https://d.example' };
  const { client, urls } = await startAnswers([[503, maintenance]], { attempts: 3 });
  const error = await catchError(client.bytes('/items', {}));
  expect(error.code).toBe('unavailable');
  expect(error.message).toBe('GET /api/v1/items returned 503: Maintenance, after 3 attempts');
  expect(error.facts).toMatchObject({ status: 503, attempts: 3, docsUrl: 'https://d.example/' });
  expect(urls).toHaveLength(3);
  expect([client.calls(), client.refusedCalls()]).toEqual([3, 3]);
});

test.each([
  ['seconds', '7', 7000],
  ['an HTTP date', 'Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
])('a rate limit waits as long as its Retry-After in %s', async (_form, retryAfter, waitMs) => {
  const { client, io } = await startAnswers([[429, RATE_BODY, { 'retry-after': retryAfter }], [200]]);
  await client.bytes('/items', {});
  expect(io.slept).toEqual([waitMs]);
  expect(io.events).toMatchObject([
    { event: 'api.rate_limited', facts: { path: '/api/v1/items', attempt: 1, waitMs } },
  ]);
  expect(client.calls()).toBe(2);
});

test.each([
  ['no Retry-After', RATE_BODY],
  ['a body that is not JSON', '<html>Too many</html>'],
  ['no limit', { message: 'Slow down' }],
  ['an unknown limit', { ...RATE_BODY, limit: 'moonPhase' }],
])('a 429 with %s backs off like a fault', async (_what, body) => {
  const { client, io } = await startAnswers([[429, body], [200]]);
  await client.bytes('/items', {});
  expect(io.slept).toEqual([250]);
});

test('a rate limit with a Retry-After beyond the maximum fails without waiting and names the time to return', async () => {
  const { client, io } = await startAnswers([[429, RATE_BODY, { 'retry-after': '600' }]]);
  const error = await catchError(client.bytes('/items', {}));
  expect(error.code).toBe('unavailable');
  expect(error.facts).toMatchObject({ limit: 'ratePerSecond', nextRunAt: new Date('2026-11-20T12:10:00Z') });
  expect(error.message).toContain('2026-11-20T12:10:00.000Z');
  expect(io.slept).toEqual([]);
});

/** A client whose waits end when the test ends them; the clock advances by each wait. */
async function listenPatiently(handler: Handler, options: Partial<ClientOptions> = {}) {
  const { port, urls } = await listen(handler);
  const io = createFakeIo();
  const waits: { ms: number; over: () => void }[] = [];
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
      const over = () => {
        io.pass(ms);
        resolve();
      };
      waits.push({ ms, over });
    });
  const client = connect({ baseUrl: `http://127.0.0.1:${port}`, ...options }, { ...io, sleep });
  return { client, urls, waits };
}

async function pass(turns = 50): Promise<void> {
  for (let n = 0; n < turns; n += 1) await turn();
}

const WORD = 'Retry-After on a 503 applies to the whole service: no page or export is requested until it ends';
test.each([503, 429])(`${WORD} (%i)`, async (status) => {
  const { client, urls, waits } = await listenPatiently((request, response, count) => {
    if (count === 1) return sendJson(response, status, status === 429 ? RATE_BODY : {}, { 'retry-after': '5' });
    if (!request.url?.includes('/export')) return sendJson(response, 200, {});
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end();
  });
  const first = client.bytes('/items', {});
  while (waits.length === 0) await turn();
  const others = [
    ...Array.from({ length: 6 }, () => client.bytes('/facets', {})),
    client.stream('/export', { format: 'ndjson' }),
  ];
  await pass();
  expect(urls).toEqual(['/api/v1/items']);
  expect(waits.map(({ ms }) => ms)).toEqual([5000]);
  waits[0]?.over();
  await Promise.all([first, ...others]);
  expect(urls).toHaveLength(9);
});

test('a fault without Retry-After delays only its own call', async () => {
  const { client, urls, waits } = await listenPatiently((_request, response, count) =>
    sendJson(response, count === 1 ? 503 : 200, {}),
  );
  const first = client.bytes('/items', {});
  while (waits.length === 0) await turn();
  await client.bytes('/facets', {});
  expect(urls).toEqual(['/api/v1/items', '/api/v1/facets']);
  waits[0]?.over();
  await first;
});

test('a shorter Retry-After that comes later does not shorten the pause', async () => {
  const { client, urls, waits } = await listenPatiently((_request, response, count) =>
    count <= 2 ? sendJson(response, 503, {}, { 'retry-after': count === 1 ? '60' : '1' }) : sendJson(response, 200, {}),
  );
  const calls = [client.bytes('/items', {}), client.bytes('/facets', {})];
  while (urls.length < 2 || waits.length === 0) await turn();
  await pass();
  expect(waits.map(({ ms }) => ms)).toEqual([60_000]);
  expect(urls).toHaveLength(2);
  waits[0]?.over();
  await Promise.all(calls);
});

test('a pause beyond the maximum also fails the calls it would delay, at once and with the same time to return', async () => {
  const { client, urls } = await startAnswers([[503, {}, { 'retry-after': '600' }]]);
  await catchError(client.bytes('/items', {}));
  const error = await catchError(client.stream('/export', { format: 'ndjson' }));
  expect(error).toMatchObject({ code: 'unavailable', facts: { nextRunAt: new Date('2026-11-20T12:10:00Z') } });
  expect(urls).toHaveLength(1);
});

test('an abort ends every call that waits for a pause', async () => {
  const stop = new AbortController();
  const { client, urls, waits } = await listenPatiently(
    (_request, response) => sendJson(response, 503, {}, { 'retry-after': '100' }),
    { signal: stop.signal },
  );
  const calls = [1, 2, 3].map(() => catchError(client.bytes('/items', {})));
  while (waits.length === 0) await turn();
  await pass();
  stop.abort();
  for (const error of await Promise.all(calls)) expect(error.code).toBe('stopped');
  expect(urls.length).toBeLessThanOrEqual(3);
});

test.each(['9'.repeat(400), '-5', 'Fri, 20 Nov 2026 11:00:00 GMT', '0'])(
  'a 429 or 503 with the unusable Retry-After %j backs off as if it had none',
  async (retryAfter) => {
    const headers = { 'retry-after': retryAfter };
    const { client, io } = await startAnswers([[429, {}, headers], [503, {}, headers], [200]]);
    await client.bytes('/items', {});
    expect(io.slept).toEqual([250, 250]);
  },
);

test('a used-up month reports the first of the next month, whatever Retry-After contains', async () => {
  const { client } = await startAnswers([
    [429, { ...RATE_BODY, limit: 'apiCallsPerMonth' }, { 'retry-after': '9'.repeat(400) }],
  ]);
  const error = await catchError(client.bytes('/items', {}));
  expect(error).toMatchObject({ code: 'quota', facts: { nextRunAt: new Date('2026-12-01T00:00:00Z') } });
});

test("calls are paced by the plan's rate", async () => {
  const { client, io } = await startAnswers([[200]]);
  client.setRate(4);
  for (let call = 0; call < 3; call += 1) await client.bytes('/items', {});
  expect(io.slept).toEqual([250, 250]);
});

test("a refused connection reports host, port and reason, and isn't counted as a call", async () => {
  const { server, port } = await listen(() => {});
  await new Promise((resolve) => server.close(resolve));
  const io = createFakeIo();
  const client = connect({ baseUrl: `http://127.0.0.1:${port}`, attempts: 3 }, io);
  const error = await catchError(client.bytes('/items', {}));
  expect(error.code).toBe('unavailable');
  expect(error.message).toBe(
    `GET /api/v1/items: can't reach 127.0.0.1:${port} (connection refused: ECONNREFUSED), after 3 attempts`,
  );
  expect(error.facts.hint).toContain('source.baseUrl');
  expect(error.cause).toMatchObject({ code: 'ECONNREFUSED' });
  expect([client.calls(), client.refusedCalls()]).toEqual([0, 0]);
  expect(error.facts).not.toHaveProperty('midStream');
  expect(io.slept).toHaveLength(2);
  // No request went out, so no rows can have been billed: an export is asked for again as well.
  expect((await catchError(client.stream('/export', {}))).facts).toMatchObject({ attempts: 3 });
});

test('https to a server that speaks http is not retried', async () => {
  const { port } = await listen((_request, response) => sendJson(response, 200, {}));
  const io = createFakeIo();
  const client = connect({ baseUrl: `https://127.0.0.1:${port}` }, io);
  const error = await catchError(client.bytes('/items', {}));
  expect(error.code).toBe('unavailable');
  expect(io.slept).toEqual([]);
});

test("a server that doesn't speak HTTP is reported as unavailable", async () => {
  const { client } = await startService((request) => request.socket.end(`220 mail ready ${KEY}\r\n`), {
    attempts: 2,
  });
  expect((await catchError(client.bytes('/items', {}))).code).toBe('unavailable');
});

test('a call without a response times out, and is retried until its attempts are used up', async () => {
  const { client } = await startService(() => {}, { timeouts: { headersMs: 50 }, attempts: 2 });
  const error = await catchError(client.bytes('/items', {}));
  expect(error.code).toBe('unavailable');
  const { port } = new URL(`http://${error.facts.host}`);
  expect(error.message).toBe(
    `GET /api/v1/items: no response from 127.0.0.1:${port} (no response within 0.05 s), after 2 attempts`,
  );
  expect(error.facts).toStrictEqual({ host: `127.0.0.1:${port}`, hint: 'Try again later.', attempts: 2 });
  expect([client.calls(), client.refusedCalls()]).toEqual([2, 2]);
});

test('a page that stalls is requested again', async () => {
  const { client, urls } = await startService(
    (_request, response, count) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      if (count === 1) response.write('{"content":');
      else response.end('{}');
    },
    { timeouts: { stallMs: 50 } },
  );
  expect((await client.bytes('/items', {})).body.toString()).toBe('{}');
  expect(urls).toHaveLength(2);
});

test.each([
  ['shorter than its content-length', { 'content-length': '100' }],
  ['cut between chunks', {}],
])('a page %s is requested again', async (_how, headers) => {
  const { client, urls } = await startService((request, response, count) => {
    if (count === 2) return sendJson(response, 200, '{"a":2}');
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.write('{"a":1}', () => request.socket.destroySoon());
  });
  expect((await client.bytes('/items', {})).body.toString()).toBe('{"a":2}');
  expect(urls).toHaveLength(2);
});

test('an abort ends a call that waits for its response', async () => {
  const stop = new AbortController();
  const { client } = await startService(() => stop.abort(), { signal: stop.signal });
  const error = await catchError(client.bytes('/items', {}));
  expect(error.code).toBe('stopped');
});

test('an abort before the connection is established sends nothing', async () => {
  const stop = new AbortController();
  const { client, urls } = await startAnswers([[200]], { signal: stop.signal });
  const call = client.bytes('/items', {});
  for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
  stop.abort();
  expect(await catchError(call)).toMatchObject({ code: 'stopped', message: 'GET /api/v1/items: stopped' });
  for (let turns = 0; turns < 50; turns += 1) await turn();
  expect(urls).toEqual([]);
  expect(client.calls()).toBe(0);
});

test('an abort ends a call that waits before its next attempt', async () => {
  const stop = new AbortController();
  const { port } = await listen((_request, response) => sendJson(response, 503, {}, { 'retry-after': '60' }));
  const log = () => setImmediate(() => stop.abort());
  const client = connect(
    { baseUrl: `http://127.0.0.1:${port}`, signal: stop.signal },
    { ...createFakeIo(), sleep: realIo.sleep, log },
  );
  expect((await catchError(client.bytes('/items', {}))).code).toBe('stopped');
});

test('a call after an abort or after close is never sent', async () => {
  const { client, urls } = await startService(() => {}, { signal: AbortSignal.abort() });
  expect((await catchError(client.bytes('/items', {}))).code).toBe('stopped');
  const other = await startService(() => {});
  await other.client.close();
  expect((await catchError(other.client.bytes('/items', {}))).code).toBe('stopped');
  expect([...urls, ...other.urls]).toEqual([]);
});

test('a hundred concurrent calls succeed without process warnings', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  const { port } = await listen((_request, response, count) => sendJson(response, count <= 50 ? 503 : 200, {}));
  const io = { ...createFakeIo(0.05), sleep: realIo.sleep };
  const client = connect({ baseUrl: `http://127.0.0.1:${port}`, signal: new AbortController().signal }, io);
  await Promise.all(Array.from({ length: 100 }, () => client.bytes('/items', {})));
  process.off('warning', note);
  expect(warnings).toEqual([]);
  expect(client.calls()).toBe(150);
});

test("a closed client removes its listener from the run's abort signal", async () => {
  const { signal } = new AbortController();
  const { client } = await startAnswers([[200]], { signal });
  await client.bytes('/items', {});
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  await client.close();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test.each(['', ' before', 'with space', 'behind ', 'line\nbreak', 'ümlaut'])(
  'the invalid API key %j is refused and not shown',
  (apiKey) => {
    expect(() => connect({ baseUrl: 'http://127.0.0.1:1', apiKey }, createFakeIo())).toThrow(
      expect.objectContaining({
        code: 'config',
        message: 'source.apiKey is empty or contains invalid characters',
        facts: { hint: expect.stringContaining('Copy it again') },
      }),
    );
  },
);

test('a key that would be sent in clear text is warned about', () => {
  const io = createFakeIo();
  connect({ baseUrl: 'http://api.example.com' }, io);
  expect(io.events).toMatchObject([{ level: 'warn', event: 'api.cleartext', facts: { host: 'api.example.com:80' } }]);
});
