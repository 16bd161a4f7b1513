/** A sandbox, a lake beside it, and the comparison of the two: what the tests of whole runs share. */
import { cpSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'lossless-json';
import { loadChecks } from '../../src/check/load.js';
import type { Pipeline } from '../../src/config/pipeline-file.js';
import { pipelineSchema } from '../../src/config/pipeline-schema.js';
import type { Io } from '../../src/io/io.js';
import { realIo } from '../../src/io/real-io.js';
import { openLake } from '../../src/lake/lake.js';
import { createTableViews } from '../../src/lake/views.js';
import type { SyncOptions } from '../../src/run/sync.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start.js';
import { Database } from '../../src/sql/connection.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { type SyncReport, syncWithWings } from '../../src/wings/index.js';
import { EventStore } from '../../src/wings/webhook/event-store.js';

export interface World {
  sandbox: Sandbox;
  folder: string;
  lakePath: string;
  pipeline: Pipeline;
  /** Requests that reached the service, as `path?query`. */
  requests: string[];
  /** Days by which the runs' clock is ahead. */
  clock: { days: number };
  /** At first that of the options, as after `renew`. */
  intercept: Intercept | undefined;
  sync(options?: SyncOptions): Promise<SyncReport>;
  /** Goes on with an empty lake beside the last one, or with a copy of one, on the same service. */
  renew(copyOf?: string): void;
  close(): Promise<void>;
}

export interface WorldOptions extends SandboxOptions {
  history?: 'feed' | 'none';
  /** Which checks runs make. Default: gates alone, since all of them take a fifth of a small run. */
  checks?: 'gates' | 'all';
  intercept?: Intercept;
}

/** Answers instead of the service, or undefined to let it answer. */
export type Intercept = (
  request: Request,
  next: (request: Request) => Promise<Response>,
) => Promise<Response> | undefined;

/** Answers with another text where the path matches. */
export const changeText =
  (path: RegExp, change: (text: string) => string): Intercept =>
  async (request, next) => {
    const answer = await next(request);
    if (!path.test(new URL(request.url).pathname)) return answer;
    const headers = new Headers(answer.headers);
    headers.delete('content-length');
    return new Response(change(await answer.text()), { status: answer.status, headers });
  };

/** Quiet, and never waiting for real. */
export const testIo: Io = { ...realIo, sleep: async () => {} };

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const { history, checks, intercept, ...sandboxOptions } = options;
  const requests: string[] = [];
  const sandbox = await startSandbox({
    items: 800,
    sites: 5,
    // History has a file a day.
    pastDays: 7,
    ratePerSecond: null,
    ...sandboxOptions,
    wrap: (next) => async (request) => {
      const url = new URL(request.url);
      if (url.pathname.startsWith('/api/')) requests.push(url.pathname.replace('/api/v1', '') + url.search);
      return (await world.intercept?.(request, next)) ?? next(request);
    },
  });
  const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-test-'));
  const clock = { days: 0 };
  const io = { ...testIo, now: () => new Date(Date.now() + clock.days * 24 * 3600 * 1000) };
  const lakePath = path.join(folder, 'lake');
  let lakes = 1;
  const world: World = {
    sandbox,
    folder,
    lakePath,
    pipeline: makePipeline(sandbox, lakePath, { history, checks }),
    requests,
    clock,
    intercept,
    sync: (options) => syncWithWings(world.pipeline, io, undefined, options),
    renew: (copyOf) => {
      world.lakePath = path.join(folder, `lake-${++lakes}`);
      if (copyOf !== undefined) cpSync(copyOf, world.lakePath, { recursive: true });
      world.pipeline = makePipeline(sandbox, world.lakePath, { history, checks });
      world.intercept = intercept;
      requests.length = 0;
    },
    close: async () => {
      await sandbox.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return world;
}

/** Settings of a pipeline file: no check but the gates. */
export const GATES_ALONE = Object.fromEntries(
  (await loadChecks()).filter(({ severity }) => severity !== 'gate').map(({ name }) => [name, { severity: 'off' }]),
);

export function makePipeline(
  sandbox: Pick<Sandbox, 'baseUrl' | 'keys'>,
  lakePath: string,
  { history = 'feed', checks = 'gates' }: { [K in 'history' | 'checks']?: WorldOptions[K] | undefined } = {},
): Pipeline {
  const source = { baseUrl: sandbox.baseUrl, apiKey: 'key', history };
  const values = pipelineSchema.parse({
    name: 'test',
    source,
    lake: { path: lakePath },
    checks: checks === 'all' ? {} : GATES_ALONE,
    proof: { sample: 0, products: false, facets: false },
  });
  return { ...values, file: 'test.yaml', source: { ...values.source, apiKey: sandbox.keys.live } };
}

/** The world moves on. Returns the new changes as the service words them. */
export async function moveOn({ sandbox }: World, by: { hours: number; changes: number }): Promise<string[]> {
  const known = (await sandbox.dump()).changes.length;
  await sandbox.advance(by);
  return (await sandbox.dump()).changes.slice(known);
}

/** What a receiver does with an event of these changes. */
export async function landEvent(lakePath: string, id: string, changes: readonly string[]): Promise<void> {
  const cursor = /"id":(\d+)/.exec(changes.at(-1) ?? '')?.[1] ?? null;
  const head = `{"id":${JSON.stringify(id)},"type":"changes","createdAt":"2026-11-20T06:00:00Z","cursor":${cursor},`;
  const store = await EventStore.open(lakePath, testIo);
  await store.land(id, Buffer.from(`${head}"changes":[${changes.join(',')}]}`));
}

/** An answer that refuses a call. */
export function refuse(status: number, more: { limit?: string } = {}): Response {
  const docsUrl = 'https://docs.example/no';
  return Response.json({ status, error: 'Refused', message: 'no', docsUrl, ...more }, { status });
}

/** SQL over the tables of a lake; `glob` names one. */
export type LakeSql = (glob: (table: string) => string) => string;

/** Rows of a lake by plain glob, as text. */
export async function readLake(lakePath: string, sql: LakeSql): Promise<string[][]> {
  const [rows = []] = await readLakes(lakePath, [sql]);
  return rows;
}

/** The same for several queries. */
export async function readLakes(lakePath: string, queries: LakeSql[]): Promise<string[][][]> {
  const db = await Database.open();
  try {
    const glob = (table: string) => `read_parquet('${lakePath}/${table}/*.parquet', hive_partitioning = false)`;
    const results: string[][][] = [];
    for (const sql of queries) {
      const rows = await db.connection.runAndReadAll(sql(glob));
      results.push(rows.getRows().map((row) => row.map((value) => (value === null ? '∅' : String(value)))));
    }
    return results;
  } finally {
    await db.close();
  }
}

/** Columns that depend on the number of tries, and on what else the account has asked for. */
const VARYING: Partial<Record<TableName, string>> = {
  runs: 'calls, calls_refused, tries, seconds, bytes_received, export_rows_lost, usage_calls, usage_export_rows',
  check_results: 'seconds',
  // The same rows are written again where a run continues.
  shop_currencies: 'run_id',
  matches: 'run_id',
};

/** Every table by plain glob, but for what varies from try to try. */
export async function readTables(lakePath: string): Promise<Record<string, string[][]>> {
  const tables: TableName[] = [];
  for (const table of TABLE_NAMES) {
    const names = await readdir(path.join(lakePath, table)).catch(() => []);
    if (names.some((name) => name !== '_delta_log')) tables.push(table);
  }
  const rows = await readLakes(
    lakePath,
    tables.map((table) => (glob) => {
      const kept = VARYING[table] === undefined ? '*' : `* EXCLUDE (${VARYING[table]})`;
      const some = table === 'check_results' ? "WHERE name <> 'ledger_matches_plan'" : '';
      return `SELECT ${kept} FROM ${glob(table)} ${some} ORDER BY ALL`;
    }),
  );
  return Object.fromEntries(tables.map((table, place) => [table, rows[place] as string[][]]));
}

/** Every row of every table as text, read through the logs. */
export async function readLoggedTables(lakePath: string): Promise<Record<string, string[]>> {
  const db = await Database.open();
  try {
    await createTableViews(db, await openLake(lakePath, { create: false }));
    const tables: Record<string, string[]> = {};
    for (const table of TABLE_NAMES) {
      const rows = await db.rows(`SELECT to_json(t)::VARCHAR AS line FROM ${table} AS t ORDER BY 1`);
      tables[table] = rows.map((row) => String(row.line));
    }
    return tables;
  } finally {
    await db.close();
  }
}

const COLUMNS = `item_id, title, brand, mpn, gtin, price, previous_price, epoch_us(price_changed_at), currency, url, image,
  category_name, category_path, category_slug, category_source, array_to_string(list_sort(datasets), '|'), site_id, site_name, site_host,
  source_id, source_name, epoch_us(first_seen_at), epoch_us(last_changed_at), epoch_us(removed_at), is_listed, extra, attributes`;

/** Every item of the lake, in columns that the feed keeps exact (last_seen_at is as of the last whole read). */
export async function readItems(lakePath: string, files?: string): Promise<Map<string, string[]>> {
  const from = (glob: string) => (files === undefined ? glob : `read_parquet('${lakePath}/${files}')`);
  const rows = await readLake(lakePath, (glob) => `SELECT ${COLUMNS} FROM ${from(glob('items'))}`);
  return new Map(rows.map((row) => [row[0] as string, [...row.slice(0, -1), normalizeJson(row.at(-1) as string)]]));
}

/** Same values, same text. */
function normalizeJson(text: string): string {
  return text === '∅' ? text : JSON.stringify(JSON.parse(text));
}

type Json = Record<string, unknown>;

/** The service's truth in the same columns, by a way of its own: text of the JSON, no DuckDB. */
export async function readTruth(sandbox: Sandbox): Promise<Map<string, string[]>> {
  const { items } = await sandbox.dump();
  const rows = items.map((line) => {
    const item = parse(line, undefined, { parseNumber: (token) => token }) as Json;
    const category = item.category as Json | null;
    const site = item.site as Json;
    const source = item.source as Json;
    return [
      item.id,
      item.title,
      item.brand,
      item.mpn,
      item.gtin,
      money(item.price),
      money(item.previousPrice),
      micros(item.priceChangedAt),
      item.currency,
      item.url,
      item.image,
      category?.name,
      category?.path,
      category?.slug,
      category?.source,
      [...(item.datasets as string[])].sort().join('|'),
      site.id,
      site.name,
      site.host,
      source.modelId,
      source.name,
      micros(item.firstSeenAt),
      micros(item.lastChangedAt),
      micros(item.removedAt),
      String(item.removedAt === null),
      null,
      JSON.stringify(JSON.parse(line).attributes),
    ].map((value) => (value === null || value === undefined ? '∅' : String(value)));
  });
  return new Map(rows.map((row) => [row[0] as string, row]));
}

/** `12.5` → `12.5000`, on the text. */
function money(value: unknown): string | null {
  if (value === null) return null;
  const [whole = '', fraction = ''] = String(value).split('.');
  return `${whole}.${fraction.padEnd(4, '0')}`;
}

/** ISO 8601 → microseconds since 1970, exact. */
function micros(value: unknown): string | null {
  if (value === null) return null;
  const [, seconds = '', fraction = ''] = /^([^.Z]+)(?:\.(\d+))?Z$/.exec(String(value)) ?? [];
  return String(BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0').slice(0, 6) || '0'));
}
