import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start.js';
import { readJsonLine, runPricelake } from './pricelake.js';

const HOST = 'service.test';
const sandbox = await startSandbox({ items: 40, sites: 2, ratePerSecond: null });
const folder = await mkdtemp(join(tmpdir(), 'pricelake-proxy-'));
const key = sandbox.keys.live;
const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing) close();
  await sandbox.close();
  await rm(folder, { recursive: true });
});

/** What the proxy saw: the first line of each request, and the names of headers. */
const seen: { line: string; headers: IncomingMessage['headers'] }[] = [];
beforeEach(() => void seen.splice(0));

async function open(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Hands a request on to the sandbox, by its own name. */
function forward(asked: IncomingMessage, answer: ServerResponse, path: string): void {
  const { hostname, port, host } = new URL(sandbox.baseUrl);
  const headers = { ...asked.headers, host };
  request({ hostname, port, path, method: asked.method, headers }, (got) => {
    answer.writeHead(got.statusCode ?? 500, got.headers);
    got.pipe(answer);
  }).end();
}

const names = ['ca', 'server'].map((name) => join(folder, name));
const [ca = '', server = ''] = names;
const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe', cwd: folder });
openssl(
  'req',
  '-x509',
  '-newkey',
  'rsa:2048',
  '-nodes',
  '-days',
  '2',
  '-subj',
  '/CN=own ca',
  '-keyout',
  `${ca}.key`,
  '-out',
  `${ca}.pem`,
);
openssl(
  'req',
  '-newkey',
  'rsa:2048',
  '-nodes',
  '-subj',
  `/CN=${HOST}`,
  '-keyout',
  `${server}.key`,
  '-out',
  `${server}.csr`,
);
await writeFile(`${server}.ext`, `subjectAltName=DNS:${HOST}\n`);
openssl(
  'x509',
  '-req',
  '-days',
  '2',
  '-in',
  `${server}.csr`,
  '-CA',
  `${ca}.pem`,
  '-CAkey',
  `${ca}.key`,
  '-CAcreateserial',
  '-extfile',
  `${server}.ext`,
  '-out',
  `${server}.pem`,
);
const identity = { key: await readFile(`${server}.key`), cert: await readFile(`${server}.pem`) };
const tlsPort = await open(createTlsServer(identity, (asked, answer) => forward(asked, answer, asked.url ?? '/')));

const proxy = createServer((asked, answer) => {
  seen.push({ line: `${asked.method} ${asked.url}`, headers: asked.headers });
  forward(asked, answer, new URL(asked.url ?? '').pathname + new URL(asked.url ?? '').search);
});
proxy.on('connect', (asked, socket) => {
  seen.push({ line: `CONNECT ${asked.url}`, headers: asked.headers });
  if (asked.headers['proxy-authorization'] === `Basic ${Buffer.from('no:one').toString('base64')}`) {
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    return;
  }
  const [, port] = (asked.url ?? '').split(':');
  const onward = connect(port === '443' ? tlsPort : Number(port), '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    onward.pipe(socket).pipe(onward);
  });
  for (const one of [onward, socket]) one.on('error', () => {});
});
const address = `http://user:secret@127.0.0.1:${await open(proxy)}`;

const ask = (baseUrl: string, env: Record<string, string>) => {
  const file = join(folder, 'prices.yaml');
  return writeFile(
    file,
    `source: {baseUrl: '${baseUrl}', apiKey: '\${PRICELAKE_API_KEY}'}\nlake: {path: '${folder}/lake'}\n`,
  ).then(() => runPricelake(['plan', file, '--json'], { env: { PRICELAKE_API_KEY: key, ...env } }));
};

test.each(['HTTP_PROXY', 'http_proxy'])('http goes to the proxy of %s by whole addresses', async (name) => {
  const told = readJsonLine(await ask(`http://${HOST}`, { [name]: address }));
  expect(told).toMatchObject({ ok: true, mode: 'snapshot' });
  expect(seen.length).toBeGreaterThan(2);
  for (const { line, headers } of seen) {
    expect(line).toMatch(/^GET http:\/\/service\.test\/api\/v1\//u);
    expect(headers).toMatchObject({ host: HOST, 'proxy-authorization': expect.stringMatching(/^Basic /u) });
  }
});

test('https goes through a tunnel, and the proxy sees neither key nor path', async () => {
  const env = { HTTPS_PROXY: address, NODE_EXTRA_CA_CERTS: `${ca}.pem` };
  expect(readJsonLine(await ask(`https://${HOST}`, env))).toMatchObject({ ok: true, mode: 'snapshot' });
  expect(seen.map(({ line }) => line)).toContain(`CONNECT ${HOST}:443`);
  expect(JSON.stringify(seen)).not.toMatch(/api\/v1/u);
  expect(JSON.stringify(seen)).not.toContain(key);
});

test('NO_PROXY, and this machine, are asked directly', async () => {
  const env = { HTTP_PROXY: address, HTTPS_PROXY: address };
  expect(readJsonLine(await ask(sandbox.baseUrl, env)).ok).toBe(true);
  const { stdout, code } = await ask(`http://${HOST}`, { ...env, NO_PROXY: '.test' });
  expect([code, stdout]).toEqual([75, expect.stringMatching(/host not found|name server/u)]);
  expect(seen).toEqual([]);
}, 120_000);

test('a certificate that is not trusted is lasting, and the message names NODE_EXTRA_CA_CERTS', async () => {
  const { stdout, code } = await ask(`https://${HOST}`, { HTTPS_PROXY: address });
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      code: 'config',
      message: expect.stringMatching(/service\.test:443 has a certificate that this machine does not trust/u),
      hint: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    },
  });
});

test('a proxy that refuses, and one that is no address, are named without their password', async () => {
  const refused = await ask(`https://${HOST}`, { HTTPS_PROXY: address.replace('user:secret', 'no:one') });
  expect([refused.code, refused.stdout]).toEqual([75, expect.stringMatching(/Proxy response \(407\)/u)]);
  const wrong = await ask(`https://${HOST}`, { HTTPS_PROXY: 'socks4://user:secret@127.0.0.1:1' });
  expect([wrong.code, wrong.stdout]).toEqual([2, expect.stringMatching(/HTTPS_PROXY is not the http or https URL/u)]);
  expect(refused.stdout + wrong.stdout + wrong.stderr).not.toMatch(/secret/u);
});
