import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type Asked, type Fault, listen, sendBody } from './s3-server.js';

/** A proxy on loopback before an object storage: faults happen to requests between the two. */
export interface FaultyProxy {
  endpoint: string;
  fault: (asked: Asked) => Fault;
  asked: Asked[];
  /** By which the storage's clock seems to be ahead. */
  aheadMs: number;
  close(): Promise<void>;
}

export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const server = createServer((incoming, response) => {
    void pass(proxy, new URL(target), incoming, response).catch(() => response.destroy());
  });
  const proxy: FaultyProxy = { ...(await listen(server)), fault: () => undefined, asked: [], aheadMs: 0 };
  return proxy;
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

async function pass(proxy: FaultyProxy, target: URL, incoming: IncomingMessage, response: ServerResponse) {
  const { pathname } = new URL(incoming.url ?? '', proxy.endpoint);
  const key = decodeURIComponent(pathname).split('/').slice(2).join('/');
  const asked = { method: incoming.method ?? '', key, count: proxy.asked.length + 1 };
  proxy.asked.push(asked);
  const fault = proxy.fault(asked);
  if (fault === 'reset') return void response.destroy();
  if (fault === 'hang') return undefined;
  const body = Buffer.concat(await incoming.toArray());
  if (fault === '500' || fault === '503') {
    const code = fault === '503' ? 'SlowDown' : 'InternalError';
    response.writeHead(Number(fault), { 'content-type': 'application/xml' });
    return void response.end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
  }
  const answer = await forward(target, incoming, body);
  if (fault === 'lost') return void response.destroy();
  return send(proxy, incoming, response, answer, fault);
}

/** As it came, with the host that was signed. */
function forward(target: URL, { method, url, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
  const { expect: _expect, 'transfer-encoding': _encoding, ...others } = headers;
  const { hostname, port } = target;
  return new Promise((resolve, reject) => {
    const options = { hostname, port, method, path: url, headers: { ...others, 'content-length': body.length } };
    const outgoing = request(options, (answer) => {
      answer
        .toArray()
        .then(
          (chunks) =>
            resolve({ status: answer.statusCode ?? 502, headers: answer.headers, body: Buffer.concat(chunks) }),
          reject,
        );
    });
    outgoing.on('error', reject).end(body);
  });
}

async function send(
  { aheadMs }: FaultyProxy,
  { method }: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Answer,
  fault: Fault,
): Promise<void> {
  const { date, 'transfer-encoding': _encoding, connection: _connection, ...others } = headers;
  const now = new Date((date === undefined ? Date.now() : Date.parse(date)) + aheadMs).toUTCString();
  const length = method === 'HEAD' ? {} : { 'content-length': String(body.length) };
  response.writeHead(status, { ...others, date: now, ...length });
  await sendBody(response, body, method === 'HEAD' ? undefined : fault);
}
