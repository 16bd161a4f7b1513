/** A server of the API over node:http, in memory, written from the API document, with habits of its own. */
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createSeeded, type Seeded } from '../seeded.js';
import { type Account, countQuota, type Source } from './account.js';
import { answerJson, type JsonAnswer, refuse, refuseDataset, refuseSince } from './endpoints.js';
import type { Habits } from './habits.js';
import { selectItems } from './select-items.js';
import { listColumns, viewExportRow } from './views.js';
import { writeCsv } from './wire-csv.js';
import { createWriter, shuffle } from './wire-json.js';
import type { Item, World } from './world.js';

export interface Service {
  baseUrl: string;
  /** Requests, as `path?query`. */
  requests: string[];
  /** Ids of the changes that `/changes` has shown. */
  delivered: ReadonlySet<bigint>;
  /** Calls and export rows of the month, as `/plan` tells them: a test may set them. */
  used: { calls: number; rows: number };
  close(): Promise<void>;
}

interface ServiceOptions {
  /** Told of each request before it is answered, and in the middle of an export: the world may move. */
  onMoment?: (path: string) => void;
  /** Changes the body of an answer. */
  change?: ((path: string, body: Buffer) => Buffer) | undefined;
  /** Awaited before each answer. */
  wait?: ((path: string) => Promise<void>) | undefined;
}

/** No output and no file of a lake may hold it. */
export const SIM_KEY = 'live_canary_c41d8e07';

/** Lines of NDJSON before each row. */
const BLANK = { none: [], empty: [''], spaces: [' ', '\t \r'] } as const;

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
    delivered: exchange.account.delivered,
    used: exchange.account.used,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

const LAGS = {
  items: 'lagItems',
  export: 'lagExport',
  facets: 'lagFacets',
  products: 'lagProducts',
  single: 'lagSingle',
} as const satisfies Record<Source, keyof Habits>;

class Exchange {
  readonly #world: World;
  readonly #random: Seeded;
  readonly #options: ServiceOptions;
  readonly #write: ReturnType<typeof createWriter>;
  readonly account: Account;
  #troubleIn = 3;

  constructor(world: World, random: Seeded, options: ServiceOptions) {
    this.#world = world;
    this.#random = random;
    this.#options = options;
    this.#write = createWriter(world.habits, random);
    const view = (source: Source) => world.asOf(this.#drawLag(source));
    this.account = { world, view, used: { calls: 5, rows: 0 }, delivered: new Set() };
  }

  /** Milliseconds: each kind of answer is behind by an amount of its own, a replica by some more. */
  #drawLag(source: Source): number {
    const { habits } = this.#world;
    return (habits[LAGS[source]] + (habits.replicas === 0 ? 0 : this.#random.fraction() * habits.replicas)) * 1000;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://service');
    const path = url.pathname.replace(/^\/api\/v1/, '');
    await this.#options.wait?.(path);
    const gzip = this.#world.habits.gzip && (request.headers['accept-encoding'] ?? '').includes('gzip');
    this.#setDate(response);
    if (this.#makeTrouble(path, response)) return;
    this.account.used.calls++;
    this.#options.onMoment?.(path);
    if (request.headers.authorization !== `Bearer ${SIM_KEY}`) this.#sendJson(response, refuse(401, 'no key'), false);
    else if (path === '/export') await this.#sendExport(response, url.searchParams, gzip);
    else this.#sendJson(response, answerJson(this.account, path, url.searchParams), gzip, path);
  }

  #setDate(response: ServerResponse): void {
    const { habits, now } = this.#world;
    if (habits.clock === 'no Date header') response.sendDate = false;
    else response.setHeader('Date', new Date(Number(now / 1_000_000n)).toUTCString());
  }

  /** Now and then the answer is a refusal that passes, or none. An export is refused, but never left unanswered. */
  #makeTrouble(path: string, response: ServerResponse): boolean {
    if (!this.#world.habits.trouble || this.#troubleIn-- > 0) return false;
    this.#troubleIn = 2 + this.#random.integer(5);
    const kind = this.#random.integer(path === '/export' ? 2 : 3);
    if (this.#world.habits.countsRefusals && kind === 0) this.account.used.calls++;
    if (kind === 0) {
      const more = { limit: 'ratePerSecond', allowed: 12.5, plan: 'pro', upgradeUrl: 'https://shop.example/plans' };
      response.setHeader('Retry-After', '1');
      this.#sendJson(response, refuse(429, 'slow down', more), false);
    } else if (kind === 1) {
      response.writeHead(503, { 'content-type': 'text/html' }).end('<html><body>Service Unavailable</body></html>');
    } else response.destroy();
    return true;
  }

  #sendJson(response: ServerResponse, { status, body }: JsonAnswer, gzip: boolean, path?: string): void {
    const written = Buffer.from(`${this.#write.page(body)}${this.#world.habits.pretty ? '\n' : ''}`);
    const text = path === undefined ? written : (this.#options.change?.(path, written) ?? written);
    const bytes = gzip ? gzipSync(text) : text;
    const headers = { 'Content-Type': 'application/json', ...nameQuota(this.#world.habits) } as OutgoingHttpHeaders;
    if (gzip) headers['Content-Encoding'] = 'gzip';
    if (this.#world.habits.length === 'content-length') headers['Content-Length'] = bytes.length;
    response.writeHead(status, this.#nameHeaders(headers)).end(bytes);
  }

  async #sendExport(response: ServerResponse, query: URLSearchParams, gzip: boolean): Promise<void> {
    const unknown = refuseDataset(this.#world, query) ?? refuseSince(this.#world, query);
    if (unknown !== undefined) return this.#sendJson(response, unknown, gzip);
    const { habits } = this.#world;
    const text = this.#writeExport(query);
    const body = this.#options.change?.('/export', text.bytes) ?? text.bytes;
    const bytes = gzip ? gzipSync(body) : body;
    const headers: OutgoingHttpHeaders = {
      'Content-Type': query.get('format') === 'ndjson' ? 'application/x-ndjson' : 'text/csv; charset=utf-8',
      'X-Export-Rows': String(text.rows),
      ...describeExport(text, habits),
      ...nameQuota(habits),
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
  #writeExport(query: URLSearchParams): WrittenExport {
    const { habits } = this.#world;
    const isCsv = query.get('format') !== 'ndjson';
    const { rows, matching, left } = this.#readExport(query);
    const written = isCsv
      ? writeCsv(listColumns(habits), rows, habits, this.#write.cell)
      : rows.map((row) => this.#write.line(row));
    if (habits.badRows === 'in exports')
      for (let n = 3; n < written.length; n += 9) written[n] = breakRow(written[n] ?? '', isCsv);
    const lines = isCsv ? written : written.flatMap((line) => [...BLANK[habits.blankLines], line]);
    const end = { ended: habits.lineEnd, open: '', blank: habits.lineEnd.repeat(2) }[habits.lastLine];
    const bytes = Buffer.from(lines.join(habits.lineEnd) + (lines.length === 0 ? '' : end));
    return { bytes, rows: rows.length, matching, left };
  }

  #readExport(query: URLSearchParams) {
    const world = this.#world;
    const { habits } = world;
    const lag = this.#drawLag('export');
    const selected = selectItems(world, world.asOf(lag), query);
    const ordered = habits.shuffledRows ? shuffle(selected, this.#random) : selected;
    const isTwice = (item: Item) => habits.repeatedRows && item.datasets.length > 1;
    const whole = ordered.flatMap((item) => (isTwice(item) ? [item, item] : [item]));
    // Of one website there are so few that a moving world explains what is missing.
    const isShort = habits.shortExport !== 'never' && !query.has('site') && !query.has('changedSince');
    const items = isShort ? whole.filter((_, n) => habits.shortExport !== 'all rows' && n % 2 === 0) : whole;
    const { left } = countQuota(this.account);
    const taken = items.slice(0, Math.max(0, left));
    const rows = taken.map((item, index) => {
      if (index === taken.length >> 1) this.#options.onMoment?.('/export');
      const view = world.asOf(lag);
      return viewExportRow(habits, view, view.item(item.id) ?? item);
    });
    this.account.used.rows += rows.length;
    return { rows, matching: items.length, left: Math.max(0, left - rows.length) };
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

/** JSON without its end, or a record that has a cell too many. */
function breakRow(line: string, isCsv: boolean): string {
  return isCsv ? `${line},x` : line.slice(0, -1);
}

interface WrittenExport {
  bytes: Buffer;
  rows: number;
  matching: number;
  /** Rows that are left of the month. */
  left: number;
}

/** Whether headers that are false are sent is left open. */
function describeExport({ rows, matching, left }: WrittenExport, { exportHeaders }: Habits): OutgoingHttpHeaders {
  const isCut = rows < matching;
  const flag = exportHeaders === '1 when true' ? '1' : 'true';
  const cut = {
    ...(exportHeaders === 'only the number that matches' ? {} : { 'X-Export-Truncated': flag }),
    'X-Export-Matching': String(matching),
  };
  const always = exportHeaders === 'always';
  return {
    ...(left === Number.POSITIVE_INFINITY ? (always ? { 'X-Export-Rows-Remaining': '100000' } : {}) : remaining(left)),
    ...(always ? { 'X-Export-Overage': 'false', 'X-Export-Truncated': 'false' } : {}),
    ...(isCut ? cut : {}),
  };
}

const remaining = (left: number) => ({ 'X-Export-Rows-Remaining': String(left) });

/** "Their exact names: not shown." */
function nameQuota({ quotaHeaders }: Habits): OutgoingHttpHeaders {
  if (quotaHeaders === 'few') return { 'X-Quota-Reset': '3600' };
  if (quotaHeaders === 'structured') {
    return { RateLimit: '"second";r=9;t=1', 'RateLimit-Policy': '"second";q=10;w=1', 'X-Quota-Calls': '5/100000' };
  }
  return { 'RateLimit-Limit': '10', 'RateLimit-Remaining': '9', 'X-Quota-Api-Calls-Remaining': '99995' };
}
