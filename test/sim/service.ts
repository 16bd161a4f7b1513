/** A server of the API over node:http, in memory, written from the API document, with habits of its own. */
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createSeeded, type Seeded } from '../seeded.js';
import { answerJson, type JsonAnswer, refuse, selectItems } from './endpoints.js';
import { viewExportRow } from './views.js';
import { createWriter, shuffle, type WriteJson } from './wire-json.js';
import type { World } from './world.js';

export interface Service {
  baseUrl: string;
  /** Requests, as `path?query`. */
  requests: string[];
  close(): Promise<void>;
}

/** Told of each request before it is answered, and in the middle of an export: the world may move. */
export type Moment = 'before answer' | 'in export';

export interface ServiceOptions {
  onMoment?: (moment: Moment, path: string) => void;
}

const KEY = 'sim-key';

export async function startService(world: World, seed: number, options: ServiceOptions = {}): Promise<Service> {
  const requests: string[] = [];
  const exchange = new Exchange(world, createSeeded(seed), options);
  const server = createServer((request, response) => {
    requests.push((request.url ?? '').replace('/api/v1', ''));
    exchange.answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

class Exchange {
  readonly #world: World;
  readonly #random: Seeded;
  readonly #options: ServiceOptions;
  readonly #write: { page: WriteJson; line: WriteJson };
  #troubleIn = 3;

  constructor(world: World, random: Seeded, options: ServiceOptions) {
    this.#world = world;
    this.#random = random;
    this.#options = options;
    this.#write = createWriter(world.habits, random);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://service');
    const path = url.pathname.replace(/^\/api\/v1/, '');
    const gzip = this.#world.habits.gzip && (request.headers['accept-encoding'] ?? '').includes('gzip');
    if (this.#makeTrouble(path, response)) return;
    this.#options.onMoment?.('before answer', path);
    if (request.headers.authorization !== `Bearer ${KEY}`) this.#sendJson(response, refuse(401, 'no key'), false);
    else if (path === '/export') await this.#sendExport(response, url.searchParams, gzip);
    else this.#sendJson(response, answerJson(this.#world, path, url.searchParams), gzip);
  }

  /** Now and then the answer is a refusal that passes, or none. An export is refused, but never left unanswered. */
  #makeTrouble(path: string, response: ServerResponse): boolean {
    if (!this.#world.habits.trouble || this.#troubleIn-- > 0) return false;
    this.#troubleIn = 2 + this.#random.integer(5);
    const kind = this.#random.integer(path === '/export' ? 2 : 3);
    if (kind === 0) {
      const more = { limit: 'ratePerSecond', allowed: 12.5, plan: 'pro', upgradeUrl: 'https://shop.example/plans' };
      response.setHeader('Retry-After', '1');
      this.#sendJson(response, refuse(429, 'slow down', more), false);
    } else if (kind === 1) {
      response.writeHead(503, { 'content-type': 'text/html' }).end('<html><body>Service Unavailable</body></html>');
    } else response.destroy();
    return true;
  }

  #sendJson(response: ServerResponse, { status, body }: JsonAnswer, gzip: boolean): void {
    const text = Buffer.from(`${this.#write.page(body)}${this.#world.habits.pretty ? '\n' : ''}`);
    const bytes = gzip ? gzipSync(text) : text;
    const headers: OutgoingHttpHeaders = { 'Content-Type': 'application/json', 'RateLimit-Remaining': '9' };
    if (gzip) headers['Content-Encoding'] = 'gzip';
    if (this.#world.habits.length === 'content-length') headers['Content-Length'] = bytes.length;
    response.writeHead(status, this.#nameHeaders(headers)).end(bytes);
  }

  async #sendExport(response: ServerResponse, query: URLSearchParams, gzip: boolean): Promise<void> {
    const text = this.#writeExport(query);
    const bytes = gzip ? gzipSync(text.bytes) : text.bytes;
    const headers: OutgoingHttpHeaders = {
      'Content-Type': 'application/x-ndjson',
      'X-Export-Rows': String(text.rows),
      'X-Export-Rows-Remaining': '100000',
      'X-Export-Overage': 'false',
      'X-Export-Truncated': 'false',
    };
    if (gzip) headers['Content-Encoding'] = 'gzip';
    if (this.#world.habits.length === 'content-length') headers['Content-Length'] = bytes.length;
    response.writeHead(200, this.#nameHeaders(headers));
    const { chunkBytes } = this.#world.habits;
    // Single bytes only to begin with: each is a system call.
    const fine = Math.min(bytes.length, chunkBytes * 2000);
    for (let at = 0; at < fine; at += chunkBytes) response.write(bytes.subarray(at, Math.min(fine, at + chunkBytes)));
    response.end(bytes.subarray(fine));
  }

  /** Rows as they are when their turn comes: the world may move between them. */
  #writeExport(query: URLSearchParams): { bytes: Buffer; rows: number } {
    const world = this.#world;
    const { habits } = world;
    const selected = selectItems(world, query);
    const ordered = habits.shuffledRows ? shuffle(selected, this.#random) : selected;
    const items = habits.repeatedRows
      ? ordered.flatMap((item) => (item.datasets.length > 1 ? [item, item] : [item]))
      : ordered;
    const lines = items.map((item, index) => {
      if (index === items.length >> 1) this.#options.onMoment?.('in export', '/export');
      return this.#write.line(viewExportRow(world, item));
    });
    const end = { ended: habits.lineEnd, open: '', blank: habits.lineEnd.repeat(2) }[habits.lastLine];
    return { bytes: Buffer.from(lines.join(habits.lineEnd) + (lines.length === 0 ? '' : end)), rows: lines.length };
  }

  #nameHeaders(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
    const { headerCase } = this.#world.habits;
    if (headerCase === 'mixed') return headers;
    const entries = Object.entries(headers);
    return Object.fromEntries(
      entries.map(([name, value]) => [headerCase === 'lower' ? name.toLowerCase() : name.toUpperCase(), value]),
    );
  }
}

export const SIM_KEY = KEY;
