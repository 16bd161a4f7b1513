import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Io } from '../../io/io.js';
import { listen } from '../../io/listen.js';
import { Connections } from './connections.js';
import type { EventStore } from './event-store.js';
import { BodyReader } from './read-body.js';
import { Refusal, RefusalLog } from './refusal.js';
import { type AgeLimits, parseSignature } from './signature.js';
import type { SigningSecrets } from './signing-secrets.js';
import { type Desk, takeDelivery } from './take-delivery.js';

export interface ReceiverOptions extends AgeLimits {
  host: string;
  port: number;
  path: string;
  maxBodyBytes: number;
  secrets: Pick<SigningSecrets, 'current'>;
  store: Pick<EventStore, 'land' | 'setAside' | 'finish'>;
  onLanded?: () => void;
  /** The time in which to respond, in milliseconds. It must be less than the 10 s that the sender waits (API §6). */
  answerWithinMs?: number;
}

export interface Receiver {
  url: string;
  /** Rejects new deliveries, and waits until all current deliveries have been written and answered. */
  close(): Promise<void>;
}

/** The path of the health check for load balancers. It returns the status 200 while the receiver is running. */
export const HEALTH_PATH = '/health';

const ANSWER_WITHIN_MS = 8_000;
/** Load balancers keep idle connections open for less than this, so they are the first to close a connection. */
const KEEP_ALIVE_MS = 75_000;

/** Serves the webhook endpoint (API §6). @throws PricelakeError `usage` if the server can't listen on the address */
export async function startReceiver(options: ReceiverOptions, io: Io): Promise<Receiver> {
  const { answerWithinMs = ANSWER_WITHIN_MS, onLanded = () => {}, secrets, store, maxAgeMs, maxSkewMs } = options;
  const desk: Desk = { secrets, store, ages: { maxAgeMs, maxSkewMs }, onLanded, io };
  const refusals = new RefusalLog(io);
  const bodies = new BodyReader(options.maxBodyBytes);
  const server = createServer({
    headersTimeout: answerWithinMs,
    requestTimeout: 2 * answerWithinMs, // for discarded requests; longer than the deadline for a response
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(1000, answerWithinMs),
  });
  const connections = new Connections(server);
  const underWay = new Set<Promise<void>>();
  server.on('request', (request, response) => {
    const { socket } = request;
    connections.note(socket, 'asking');
    response.on('error', () => {}); // the client may have disconnected
    const onBody = () => connections.note(socket, 'taken');
    const answered = answer(request, response, { ...options, answerWithinMs, desk, refusals, bodies, onBody })
      .catch((error: unknown) => io.log('error', 'webhook.not_answered', { reason: String(error) }))
      .finally(() => {
        connections.note(socket, 'idle');
        underWay.delete(answered);
      });
    underWay.add(answered);
  });
  await listen(server, options.host, options.port);
  server.on('error', (error) => io.log('error', 'webhook.server', { reason: error.message }));
  return {
    url: describeUrl(server, options.path),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      while (underWay.size > 0) await Promise.all(underWay);
      await store.finish();
      server.closeAllConnections(); // the connections that remain have sent no complete request
      await closed;
    },
  };
}

interface Counter {
  path: string;
  answerWithinMs: number;
  desk: Desk;
  refusals: RefusalLog;
  bodies: BodyReader;
  onBody: () => void;
}

/** Responds to a request. If anything fails, the status causes the sender to send the event again. */
async function answer(request: IncomingMessage, response: ServerResponse, counter: Counter): Promise<void> {
  const path = request.url?.split('?', 1)[0];
  if (path === HEALTH_PATH) await respond(response, 200);
  else if (path !== counter.path) await respond(response, 404);
  else if (request.method !== 'POST') await respond(response.setHeader('Allow', 'POST'), 405);
  else await respond(response, await receive(request, counter));
}

/** Receives a delivery, and returns the status of the response. Always returns before the deadline for a response. */
async function receive(request: IncomingMessage, counter: Counter): Promise<number> {
  const { answerWithinMs, desk, refusals, bodies, onBody } = counter;
  const answered = new AbortController();
  let isRead = false;
  try {
    const header = request.headers['service-signature'];
    const signature = parseSignature(Array.isArray(header) ? header.join() : header);
    if (signature === undefined) throw new Refusal(401, 'without a signature');
    const taken = bodies.use(request, (body) => {
      isRead = true;
      onBody();
      return takeDelivery(desk, { signature, attempt: readAttempt(request), body });
    });
    const deadline = setTimeout(answerWithinMs, undefined, { signal: answered.signal });
    const status = await Promise.race([taken, deadline]);
    if (status !== undefined) return status;
    if (!isRead) throw new Refusal(408, 'slower than the deadline');
    desk.io.log('error', 'webhook.late', { afterMs: answerWithinMs });
    return 503;
  } catch (error) {
    if (error instanceof Refusal) {
      refusals.add(error);
      return error.status;
    }
    desk.io.log('error', 'webhook.not_landed', { reason: error instanceof Error ? error.message : String(error) });
    return 503;
  } finally {
    answered.abort();
  }
}

/** Reads the Service-Delivery-Attempt header. It is only used in logs, because it isn't signed. */
function readAttempt(request: IncomingMessage): number | undefined {
  const text = String(request.headers['service-delivery-attempt']);
  return /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

/** Responds without a body, because the sender ignores the body of a response (API §6). */
async function respond(response: ServerResponse, status: number): Promise<void> {
  if (response.destroyed) return;
  if (status === 408) response.setHeader('Connection', 'close');
  const done = new Promise<void>((resolve) => response.once('close', resolve).once('finish', resolve));
  response.writeHead(status).end();
  await done;
}

function describeUrl(server: Server, path: string): string {
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}${path}`;
}
