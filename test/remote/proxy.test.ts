import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ForwardProxy, startForwardProxy } from '../cli/forward-proxy.js';
import { readJsonLine, runPricelake } from '../cli/pricelake.js';
import { SECRET } from './s3-server.js';
import { openS3World, type S3World } from './s3-world.js';

/** A host that only the proxy can resolve. */
const HOST = 'store.test';

let remote: S3World;
let proxy: ForwardProxy;
beforeAll(async () => {
  remote = await openS3World({ items: 40, sites: 2, pastDays: 2 });
  proxy = await startForwardProxy(HOST, remote.s3.endpoint);
});
afterAll(async () => {
  await proxy.close();
  await remote.close();
});
beforeEach(() => void proxy.seen.splice(0));

const nameOf = (origin: string) => new URL(origin).protocol.slice(0, -1);
const addressOf = (origin: string) => `s3://bucket/${nameOf(origin)}?endpoint=${origin}`;

async function sync(origin: string, env: NodeJS.ProcessEnv) {
  const { folder, sandbox } = remote.world;
  const file = join(folder, 'proxied.yaml');
  const source = `source: { baseUrl: ${sandbox.baseUrl}, apiKey: "\${PRICELAKE_API_KEY}" }`;
  const lake = `lake: { path: ${join(folder, nameOf(origin))}, remote: "${addressOf(origin)}" }`;
  await writeFile(file, `name: test\n${source}\n${lake}\n`);
  return runPricelake(['sync', file, '--json'], { env: { PRICELAKE_API_KEY: sandbox.keys.live, ...env } });
}

function count(origin: string, env: NodeJS.ProcessEnv) {
  const cache = join(remote.world.folder, 'cache');
  const sql = 'SELECT count(*) AS items FROM items';
  return runPricelake(['query', '--remote', addressOf(origin), '--cache', cache, '--format', 'csv', sql], { env });
}

test('an http remote is reached through the proxy in HTTP_PROXY, with absolute addresses', async () => {
  const origin = `http://${HOST}:9000`;
  const env = { http_proxy: proxy.address };
  expect(readJsonLine(await sync(origin, env))).toMatchObject({ ok: true, published: true });
  expect(await count(origin, env)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^items\r?\n\d+/u) });
  expect(proxy.seen.length).toBeGreaterThan(20);
  for (const { line, headers } of proxy.seen) {
    expect(line).toMatch(/^[A-Z]+ http:\/\/store\.test:9000\/bucket/u);
    expect(headers).toMatchObject({ 'proxy-authorization': expect.stringMatching(/^Basic /u) });
  }
}, 120_000);

test('an https remote is reached through a tunnel, so the proxy sees neither credentials nor paths', async () => {
  const origin = `https://${HOST}`;
  const env = { HTTPS_PROXY: proxy.address, NODE_EXTRA_CA_CERTS: proxy.caFile };
  expect(readJsonLine(await sync(origin, env))).toMatchObject({ ok: true, published: true });
  expect(await count(origin, env)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^items\r?\n\d+/u) });
  expect([...new Set(proxy.seen.map(({ line }) => line))]).toEqual([`CONNECT ${HOST}:443`]);
  expect(JSON.stringify(proxy.seen)).not.toMatch(/bucket|key-id/u);
  expect(JSON.stringify(proxy.seen)).not.toContain(SECRET);
}, 120_000);

test('a host in NO_PROXY is called directly, and a refusing proxy is reported without its password', async () => {
  const origin = `https://${HOST}`;
  const direct = await count(origin, { HTTPS_PROXY: proxy.address, NO_PROXY: '.test' });
  expect(direct).toMatchObject({ code: 75, stdout: '' });
  expect(proxy.seen).toEqual([]);
  const refused = await count(origin, { HTTPS_PROXY: proxy.address.replace('user:secret', 'no:one') });
  expect([refused.code, refused.stderr]).toEqual([
    75,
    expect.stringMatching(/the proxy 127\.0\.0\.1:\d+ refused a tunnel to store\.test:443 with status 407/u),
  ]);
  expect(refused.stderr).not.toMatch(/no:one|secret/u);
}, 120_000);
