import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start.js';
import { startForwardProxy } from './forward-proxy.js';
import { readJsonLine, runPricelake } from './pricelake.js';

const HOST = 'service.test';
const sandbox = await startSandbox({ items: 40, sites: 2, ratePerSecond: null });
const folder = await mkdtemp(join(tmpdir(), 'pricelake-proxied-'));
const key = sandbox.keys.live;
const proxy = await startForwardProxy(HOST, sandbox.baseUrl);
const { address, caFile, seen } = proxy;
afterAll(async () => {
  await proxy.close();
  await sandbox.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => void seen.splice(0));

const ask = (baseUrl: string, env: Record<string, string>) => {
  const file = join(folder, 'prices.yaml');
  return writeFile(
    file,
    `source: {baseUrl: '${baseUrl}', apiKey: '\${PRICELAKE_API_KEY}'}\nlake: {path: '${folder}/lake'}\n`,
  ).then(() => runPricelake(['plan', file, '--json'], { env: { PRICELAKE_API_KEY: key, ...env } }));
};

test.each(['HTTP_PROXY', 'http_proxy'])('http requests go to the proxy in %s with absolute addresses', async (name) => {
  const told = readJsonLine(await ask(`http://${HOST}`, { [name]: address }));
  expect(told).toMatchObject({ ok: true, mode: 'snapshot' });
  expect(seen.length).toBeGreaterThan(2);
  for (const { line, headers } of seen) {
    expect(line).toMatch(/^GET http:\/\/service\.test\/api\/v1\//u);
    expect(headers).toMatchObject({ host: HOST, 'proxy-authorization': expect.stringMatching(/^Basic /u) });
  }
});

test('https requests go through a tunnel, so the proxy sees neither key nor path', async () => {
  const env = { HTTPS_PROXY: address, NODE_EXTRA_CA_CERTS: caFile };
  expect(readJsonLine(await ask(`https://${HOST}`, env))).toMatchObject({ ok: true, mode: 'snapshot' });
  expect(seen.map(({ line }) => line)).toContain(`CONNECT ${HOST}:443`);
  expect(JSON.stringify(seen)).not.toMatch(/api\/v1/u);
  expect(JSON.stringify(seen)).not.toContain(key);
});

test('hosts in NO_PROXY and this machine are called directly', async () => {
  const env = { HTTP_PROXY: address, HTTPS_PROXY: address };
  expect(readJsonLine(await ask(sandbox.baseUrl, env)).ok).toBe(true);
  const { stdout, code } = await ask(`http://${HOST}`, { ...env, NO_PROXY: '.test' });
  expect([code, stdout]).toEqual([75, expect.stringMatching(/host not found|name server/u)]);
  expect(seen).toEqual([]);
}, 120_000);

test('an untrusted certificate is a permanent error that mentions NODE_EXTRA_CA_CERTS', async () => {
  const { stdout, code } = await ask(`https://${HOST}`, { HTTPS_PROXY: address });
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      code: 'config',
      message: expect.stringMatching(/service\.test:443 has a certificate that this machine doesn't trust/u),
      hint: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    },
  });
});

test('a proxy that refuses and an invalid proxy address are reported without the password', async () => {
  const refused = await ask(`https://${HOST}`, { HTTPS_PROXY: address.replace('user:secret', 'no:one') });
  expect([refused.code, refused.stdout]).toEqual([75, expect.stringMatching(/Proxy response \(407\)/u)]);
  const wrong = await ask(`https://${HOST}`, { HTTPS_PROXY: 'socks4://user:secret@127.0.0.1:1' });
  expect([wrong.code, wrong.stdout]).toEqual([2, expect.stringMatching(/HTTPS_PROXY is not an http or https URL/u)]);
  expect(refused.stdout + wrong.stdout + wrong.stderr).not.toMatch(/secret/u);
});
