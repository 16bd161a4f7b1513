import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A forward proxy on loopback, and a TLS server behind it whose certificate only `caFile` vouches for. */
export interface ForwardProxy {
  /** With a user and a password, as HTTPS_PROXY has it. The user `no` is refused a tunnel. */
  address: string;
  caFile: string;
  /** The first line and the headers of each request that the proxy received. */
  seen: { line: string; headers: IncomingHttpHeaders }[];
  close(): Promise<void>;
}

/** @param host its name leads to `target`, by http and, through tunnels, by https */
export async function startForwardProxy(host: string, target: string): Promise<ForwardProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'pricelake-proxy-'));
  const servers: Server[] = [];
  const open = async (server: Server) => {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };
  const { caFile, identity } = await makeIdentity(folder, host);
  const pass = (asked: IncomingMessage, answer: ServerResponse) => forward(target, asked, answer);
  const tlsPort = await open(createTlsServer(identity, pass));
  const seen: ForwardProxy['seen'] = [];
  const proxy = createServer((asked, answer) => {
    seen.push({ line: `${asked.method} ${asked.url}`, headers: asked.headers });
    pass(asked, answer);
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
  return {
    address: `http://user:secret@127.0.0.1:${await open(proxy)}`,
    caFile,
    seen,
    async close() {
      for (const server of servers) server.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Sends a request on. An object storage checks the host that was signed; the sandbox wants its own name. */
function forward(target: string, asked: IncomingMessage, answer: ServerResponse): void {
  const { hostname, port, host } = new URL(target);
  const { pathname, search } = new URL(asked.url ?? '/', target);
  const headers = { ...asked.headers, host };
  const onward = request({ hostname, port, path: pathname + search, method: asked.method, headers }, (got) => {
    answer.writeHead(got.statusCode ?? 500, got.headers);
    got.pipe(answer);
  });
  asked.pipe(onward);
}

async function makeIdentity(folder: string, host: string) {
  const [ca, server] = [join(folder, 'ca'), join(folder, 'server')];
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe', cwd: folder });
  const key = ['-newkey', 'rsa:2048', '-nodes'];
  openssl('req', '-x509', ...key, '-days', '2', '-subj', '/CN=own ca', '-keyout', `${ca}.key`, '-out', `${ca}.pem`);
  openssl('req', ...key, '-subj', `/CN=${host}`, '-keyout', `${server}.key`, '-out', `${server}.csr`);
  await writeFile(`${server}.ext`, `subjectAltName=DNS:${host}\n`);
  const signed = ['-CA', `${ca}.pem`, '-CAkey', `${ca}.key`, '-CAcreateserial', '-extfile', `${server}.ext`];
  openssl('x509', '-req', '-days', '2', '-in', `${server}.csr`, ...signed, '-out', `${server}.pem`);
  const identity = { key: await readFile(`${server}.key`), cert: await readFile(`${server}.pem`) };
  return { caFile: `${ca}.pem`, identity };
}
