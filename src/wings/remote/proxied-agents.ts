import { type ClientRequestArgs, Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { connect, isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { findProxy, hasProxy } from '../../formats/find-proxy.js';
import { PricelakeError } from '../../io/errors.js';

/** Node.js 24.5 and later support HTTPS_PROXY. Older versions need the agents in this file. */
const OPTIONS = { keepAlive: true, maxSockets: 50 };
type OnConnection = (error: Error | null, socket: Duplex) => void;

/** Connects to the proxy in HTTP_PROXY. The request must name its host in its path, as `nameHost` does. */
class PlainAgent extends HttpAgent {
  override createConnection(options: ClientRequestArgs, done?: OnConnection): Duplex | null | undefined {
    const proxy = findProxy(`http://${nameOf(options)}`);
    if (proxy === undefined) return super.createConnection(options, done);
    const { host, port, servername } = addressOf(proxy);
    return proxy.protocol === 'https:' ? connectTls({ host, port, servername }) : connect({ host, port });
  }
}

/** Connects through a tunnel of the proxy in HTTPS_PROXY. The proxy sees only the name of the request's host. */
class TunnelAgent extends HttpsAgent {
  readonly #connectMs: number;

  constructor(connectMs: number) {
    super(OPTIONS);
    this.#connectMs = connectMs;
  }

  override createConnection(options: ClientRequestArgs, done: OnConnection = () => {}): Duplex | null | undefined {
    const name = nameOf(options);
    const proxy = findProxy(`https://${name}`);
    if (proxy === undefined) return super.createConnection(options, done);
    const onTunnel = (socket: Duplex) => {
      const secured = super.createConnection({ ...options, socket } as ClientRequestArgs);
      if (secured) done(null, secured);
    };
    openTunnel(proxy, name, this.#connectMs).then(onTunnel, (error: Error) => done(error, undefined as never));
    return undefined;
  }
}

/** Creates agents for the AWS SDK, which ignores proxy variables. Without a proxy, the SDK uses its own agents. */
export function createAgents(connectMs: number): { httpAgent?: HttpAgent; httpsAgent?: HttpsAgent } {
  if (!hasProxy()) return {};
  return { httpAgent: new PlainAgent(OPTIONS), httpsAgent: new TunnelAgent(connectMs) };
}

interface SignedRequest {
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  headers: Record<string, string>;
}

/** Adds the host to the path of a plain HTTP request that goes through a proxy (RFC 9112, section 3.2.2). */
export function nameHost<Request extends SignedRequest>(request: Request): Request {
  const { protocol, hostname, port, path, headers } = request;
  const origin = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`;
  const proxy = protocol === 'http:' ? findProxy(origin) : undefined;
  if (proxy === undefined) return request;
  return { ...request, path: `${origin}${path}`, headers: { ...headers, ...authorize(proxy) } };
}

function openTunnel(proxy: URL, name: string, connectMs: number): Promise<Duplex> {
  const request = proxy.protocol === 'https:' ? requestHttps : requestHttp;
  const headers = { host: name, ...authorize(proxy) };
  return new Promise((resolve, reject) => {
    const asked = request({ ...addressOf(proxy), method: 'CONNECT', path: name, headers, agent: false });
    asked.setTimeout(connectMs, () => asked.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
    asked.once('error', reject);
    asked.once('connect', ({ statusCode }, socket: Duplex) => {
      asked.setTimeout(0);
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(refuse(proxy, name, statusCode));
    });
    asked.end();
  });
}

function refuse(proxy: URL, name: string, status: number | undefined): PricelakeError {
  return new PricelakeError(
    'unavailable',
    `the proxy ${proxy.host} refused a tunnel to ${name} with status ${status}`,
    {
      hint: "Check HTTPS_PROXY, and add the host to NO_PROXY if it doesn't need a proxy.",
    },
  );
}

/** Formats the host and the port of a request as in a URL. */
function nameOf({ host, port }: ClientRequestArgs): string {
  const name = String(host);
  return `${isIPv6(name) ? `[${name}]` : name}:${port}`;
}

function addressOf(proxy: URL): { host: string; port: number; servername: string } {
  const host = proxy.hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(proxy.port) || (proxy.protocol === 'https:' ? 443 : 80), servername: host };
}

function authorize({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
