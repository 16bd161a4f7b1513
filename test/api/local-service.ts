import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { type ApiClient, type ClientOptions, createClient } from '../../src/api/client.js';
import { PricelakeError } from '../../src/io/errors.js';
import { createFakeIo, type FakeIo } from './fake-io.js';

export const KEY = 'live_K3y-that/must+never"show';

export type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => void;

export interface LocalService {
  client: ApiClient;
  io: FakeIo;
  port: number;
  /** Method-less request lines as they arrived: `/api/v1/items?q=…`. */
  urls: string[];
  requests: IncomingMessage[];
}

/** A real server on loopback; closed after the test. */
export async function listen(
  handler: Handler,
): Promise<{ server: Server; port: number; requests: IncomingMessage[]; urls: string[] }> {
  const requests: IncomingMessage[] = [];
  const urls: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    urls.push(request.url ?? '');
    handler(request, response, requests.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port, requests, urls };
}

/** A client of a real server, with a fake world around it. `count` is 1 for the first request. */
export async function startService(handler: Handler, options: Partial<ClientOptions> = {}): Promise<LocalService> {
  const { port, requests, urls } = await listen(handler);
  const io = createFakeIo();
  const client = connect({ baseUrl: `http://127.0.0.1:${port}`, ...options }, io);
  return { client, io, port, requests, urls };
}

/** A service that returns these responses in order, and then repeats the last one. */
export function startAnswers(
  answers: [status: number, body?: unknown, headers?: Record<string, string | string[]>][],
  options: Partial<ClientOptions> = {},
): Promise<LocalService> {
  return startService((_request, response, count) => {
    const [status, body = {}, headers] = answers[count - 1] ?? (answers.at(-1) as (typeof answers)[number]);
    sendJson(response, status, body, headers);
  }, options);
}

/** A client that is closed after the test; its rate is unlimited, so that `slept` shows the retries only. */
export function connect(options: Partial<ClientOptions> & { baseUrl: string }, io: FakeIo): ApiClient {
  const client = createClient({ apiKey: KEY, ...options }, io);
  client.setRate(null);
  onTestFinished(() => client.close());
  return client;
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** The error of a call that must fail; it is searched for the key, as everything in it may be shown. */
export async function catchError(call: Promise<unknown>): Promise<PricelakeError> {
  const error = await call.then(
    () => expect.unreachable('the call should have failed'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PricelakeError);
  expectNoKey(error);
  return error as PricelakeError;
}

export function expectNoKey(value: unknown): void {
  const error = value as PricelakeError;
  const shown = `${inspect(value, { depth: 20, showHidden: true })} ${JSON.stringify({ ...error, message: error.message })}`;
  for (const shape of [KEY, encodeURIComponent(KEY), JSON.stringify(KEY).slice(1, -1)])
    expect(shown).not.toContain(shape);
}

/** Reads a stream to its end; the error, if any, is thrown. */
export async function readAll(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
