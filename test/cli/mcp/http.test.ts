import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveMcp } from '../../../src/cli/actions/serve-mcp.js';
import { publishLake } from '../lake-fixture.js';
import { openContext } from '../open-context.js';
import { callWith } from './open-client.js';

const lake = await publishLake();
let served: { url: string; token: string };
const stop = new AbortController();
let ended: Promise<unknown>;

beforeAll(async () => {
  const context = openContext(true);
  const bounds = { memory: '300MB', maxCalls: 0, maxRows: 0, maxOverage: 0 };
  ended = serveMcp({ lake, http: true, ...bounds }, { ...context, signal: stop.signal });
  while (context.output.text === '') await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 10))]);
  served = JSON.parse(context.output.text) as typeof served;
});
afterAll(async () => {
  stop.abort();
  await ended;
});

async function connect(headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(served.url), { requestInit: { headers } }));
  return client;
}
const own = () => ({ authorization: `Bearer ${served.token}` });

test('a client with the token gets the same tools and answers', async () => {
  const client = await connect(own());
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('query');
  const { value } = await callWith(client).call('query', { sql: 'SELECT count(*) AS n FROM items' });
  expect(value.rows).toEqual([{ n: '4' }]);
  await client.close();
});

describe('the HTTP server refuses', () => {
  const ask = (headers: Record<string, string>, path = '') =>
    fetch(`${served.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });

  test.each([
    ['a request without the token', () => ({}), 401],
    ['a request with another token', () => ({ authorization: 'Bearer x' }), 401],
    ['a request from a web page', () => ({ ...own(), origin: 'https://evil.example' }), 401],
    ['a request to another path', own, 404, '/x'],
  ] as [string, () => Record<string, string>, number, string?][])('%s', async (_, headers, status, path) => {
    const answer = await ask(headers(), path);
    expect([answer.status, (await answer.text()).includes('query')]).toEqual([status, false]);
  });

  test('a request under another host name (DNS rebinding)', async () => {
    const { request } = await import('node:http');
    const { port } = new URL(served.url);
    const status = await new Promise((resolve) => {
      const headers = { host: `evil.example:${port}`, ...own() };
      request({ port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers }, ({ statusCode }) =>
        resolve(statusCode),
      ).end();
    });
    expect(status).toBe(421);
  });

  test('a client without the token', async () => {
    await expect(connect({})).rejects.toThrow(/Send the token/u);
  });
});

test('the resources are the glossary, the tables and the ledger', async () => {
  const client = await connect(own());
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(
    expect.arrayContaining(['pricelake://glossary', 'pricelake://ledger', 'pricelake://tables/items']),
  );
  const read = async (uri: string) =>
    (await client.readResource({ uri })).contents.map((one) => 'text' in one && one.text).join();
  expect(await read('pricelake://glossary')).toContain('# Glossary');
  expect(await read('pricelake://tables/price_spread')).toContain('trusted_min');
  expect(JSON.parse(await read('pricelake://ledger'))).toMatchObject([{ run_number: '1', calls: '7' }]);
  await expect(read('pricelake://tables/..%2f..%2fetc')).rejects.toThrow();
  await client.close();
});

test('the prompts are the weekly review and a failing check', async () => {
  const client = await connect(own());
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual([
    'weekly_price_review',
    'failing_check',
  ]);
  const { messages } = await client.getPrompt({ name: 'failing_check', arguments: { check: 'gtin_check_digit' } });
  expect(JSON.stringify(messages)).toContain('gtin_check_digit');
  const { messages: review } = await client.getPrompt({ name: 'weekly_price_review', arguments: { currency: 'EUR' } });
  const named = [...JSON.stringify(review).matchAll(/\b(describe|movers|run_analysis|watch)\b/gu)].map(
    ([name]) => name,
  );
  expect(new Set(named).size).toBe(4);
  await client.close();
});
