import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'lossless-json';
import type { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadWarehouse } from '../../src/cli/actions/load-warehouse.js';
import { runCompact } from '../../src/cli/actions/run-compact.js';
import { holdsJson } from '../../src/deliver/postgres-copy.js';
import { openLake } from '../../src/lake/lake.js';
import { readTable } from '../../src/lake/read.js';
import { createTableViews } from '../../src/lake/views.js';
import { Database } from '../../src/sql/connection.js';
import { type Column, loadTableSchema } from '../../src/tables/schemas.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { openContext } from '../cli/open-context.js';
import { runHere } from '../cli/pricelake.js';
import { findFault } from '../cli/results/find-fault.js';
import { changeText, openWorld, type World } from '../run/world.js';
import { type Server, startServer } from './server.js';

const INCREMENTS = 50;
const SCHEMA = 'prices';
/** Columns that an older copy may lack, including required ones. */
const LACKING = { items: ['gone_at', 'extra'], history: ['url'], runs: ['tries', 'gone'] };

let server: Server;
let world: World;
let client: Client;
beforeAll(async () => {
  server = await startServer();
  Object.assign(process.env, server.env);
  client = await server.connect();
  world = await openWorld({ items: 80, sites: 3, pastDays: 3 });
  await world.sync();
});
afterAll(async () => {
  await client.end();
  await world.close();
  await server.close();
});

const request = () => ({
  warehouse: 'postgres' as const,
  lake: world.lakePath,
  full: false,
  execute: true,
  schema: SCHEMA,
});
const load = () => loadWarehouse(request(), openContext(true));
const loadWhole = () => loadWarehouse({ ...request(), full: true }, openContext(true));

/** One text a row; each of the two databases writes its values by itself. */
function writeRow(columns: Column[], forms: Record<'time' | 'list', (name: string) => string>): string {
  const values = columns.map(({ name, type }) => {
    const column = `"${name}"`;
    if (type === 'TIMESTAMP WITH TIME ZONE') return forms.time(column);
    return type === 'VARCHAR[]' ? forms.list(column) : `CAST(${column} AS VARCHAR)`;
  });
  return `SELECT ${values.map((value, i) => `${value} AS c${i}`).join(', ')}`;
}

const DUCKDB = {
  time: (name: string) => `strftime(${name}, '%Y-%m-%d %H:%M:%S.%f')`,
  list: (name: string) => `CAST(to_json(${name}) AS VARCHAR)`,
};
const POSTGRES = {
  time: (name: string) => `to_char(${name} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')`,
  list: (name: string) => `CAST(to_json(${name}) AS VARCHAR)`,
};

/** JSON by its values, doubles by their number. */
function normalize(text: unknown, column: Column): string {
  if (text === null) return '∅';
  if (column.type === 'DOUBLE') return String(Number(text));
  if (column.type === 'VARCHAR[]') return JSON.stringify(JSON.parse(String(text)));
  return holdsJson(column) ? String(stringify(sortKeys(parse(String(text))))) : String(text);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (value === null || typeof value !== 'object' || 'isLosslessNumber' in value) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sortKeys(one)]),
  );
}

function toLines(rows: Record<string, unknown>[], columns: Column[]): string[] {
  return rows.map((row) => columns.map((column, i) => normalize(row[`c${i}`], column)).join(' | ')).sort();
}

/** The rows of the lake and of the copy, in the columns that both have. */
async function readBoth(db: Database, table: TableName, has: Set<string>): Promise<[string[], string[]]> {
  const columns = loadTableSchema(table).columns.filter(({ name }) => has.has(name));
  const there = await db.rows(`${writeRow(columns, DUCKDB)} FROM ${table}`);
  const here = await client.query(`${writeRow(columns, POSTGRES)} FROM ${SCHEMA}.${table}`);
  return [toLines(there, columns), toLines(here.rows, columns)];
}

async function readColumns(table: TableName): Promise<Set<string>> {
  const { rows } = await client.query(
    'SELECT column_name FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2',
    [SCHEMA, table],
  );
  return new Set(rows.map(({ column_name }) => String(column_name)));
}

async function expectEqual(when: string): Promise<void> {
  const lake = await openLake(world.lakePath, { create: false });
  const db = await Database.open();
  try {
    await createTableViews(db, lake);
    for (const table of TABLE_NAMES) {
      // A table that the lake doesn't have yet is not in the copy either.
      if ((await readTable(lake, table)).version < 0n) continue;
      const [there, here] = await readBoth(db, table, await readColumns(table));
      expect(here, `${table} ${when}`).toEqual(there);
    }
  } finally {
    await db.close();
  }
}

async function readRuns(): Promise<string> {
  const { rows } = await client.query(`SELECT DISTINCT run_number FROM ${SCHEMA}.pricelake_loads ORDER BY 1`);
  return rows.map(({ run_number }) => String(run_number)).join();
}

test('a full load yields equal tables with lists, JSON and keys, and loading again does nothing', async () => {
  await load();
  await expectEqual('at first');
  const types = await client.query(
    'SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2',
    [SCHEMA, 'items'],
  );
  const byName = new Map(types.rows.map((row) => [row.column_name, row.data_type]));
  expect([byName.get('datasets'), byName.get('attributes'), byName.get('price')]).toEqual([
    'ARRAY',
    'jsonb',
    'numeric',
  ]);
  const again = (await load()) as { tables: { rows: bigint; since: bigint }[] };
  expect(again.tables.reduce((sum, { rows }) => sum + rows, 0n)).toBe(0n);
});

test(`tables stay equal after each of ${INCREMENTS} increments with removals, re-listings, complete copies and compactions`, async () => {
  const kinds = new Set<string>();
  for (let i = 1; i <= INCREMENTS; i += 1) {
    await world.sandbox.advance({ hours: 5, changes: 25 });
    if (i % 17 === 0) world.pipeline = { ...world.pipeline, source: { ...world.pipeline.source, mode: 'snapshot' } };
    await world.sync();
    world.pipeline = { ...world.pipeline, source: { ...world.pipeline.source, mode: 'auto' } };
    if (i % 13 === 0) await runCompact({ lake: world.lakePath }, openContext(true));
    if (i % 7 === 3) continue; // two runs at once
    await load();
    await expectEqual(`after increment ${i}`);
  }
  await load();
  const { rows } = await client.query(`SELECT DISTINCT kind FROM ${SCHEMA}.history`);
  for (const { kind } of rows) kinds.add(String(kind));
  expect([...kinds].sort()).toEqual(['CHANGED', 'NEW', 'RELISTED', 'REMOVED']);
});

test('a load killed in the middle leaves the copy unchanged, and the next load completes it', async () => {
  await load();
  const before = await readRuns();
  await world.sandbox.advance({ hours: 5, changes: 40 });
  await world.sync();
  const holder = await server.connect();
  await holder.query(`BEGIN; LOCK TABLE ${SCHEMA}.products IN ACCESS EXCLUSIVE MODE`);
  const args = ['load', 'postgres', '--execute', '--schema', SCHEMA, '--lake', world.lakePath];
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', ...args], { stdio: 'ignore' });
  try {
    // History, items and others are written by then.
    await waitFor("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'pricelake'");
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
    await holder.end();
  }
  await waitFor("SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE application_name = 'pricelake')");
  expect(await readRuns()).toBe(before);
  await load();
  await expectEqual('after the kill');
  expect(await readRuns()).not.toBe(before);
});

test('--json prints output that fits its schema, after a load and if nothing is new', async () => {
  for (const options of [['--full'], []]) {
    const args = ['load', 'postgres', '--execute', '--schema', SCHEMA, '--lake', world.lakePath, ...options];
    const { stdout, code } = await runHere([...args, '--json']);
    expect([code, await findFault('load', stdout.trimEnd().split('\n').at(-1) ?? '')]).toEqual([0, undefined]);
  }
});

async function waitFor(sql: string): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if ((await client.query(sql)).rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`never: ${sql}`);
}

test('a full load adds missing columns, and another lake is loaded only with --full', async () => {
  await client.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
  await load();
  for (const [table, names] of Object.entries(LACKING)) {
    for (const name of names) await client.query(`ALTER TABLE ${SCHEMA}.${table} DROP COLUMN ${name}`);
  }
  await loadWhole();
  await expectEqual('with new columns');
  const before = await readRuns();
  world.renew();
  await world.sync();
  await expect(load()).rejects.toMatchObject({
    code: 'copy_differs',
    message: expect.stringContaining('another lake'),
  });
  expect(await readRuns()).toBe(before);
  await loadWhole();
  await expectEqual('of another lake');
});

test('an older lake overwrites a newer copy only with --full', async () => {
  const older = path.join(world.folder, 'backup');
  cpSync(world.lakePath, older, { recursive: true });
  await world.sandbox.advance({ hours: 5, changes: 25 });
  await world.sync();
  await load();
  const [newer, after] = [world.lakePath, await readRuns()];
  world.lakePath = older;
  await expect(load()).rejects.toMatchObject({
    code: 'copy_differs',
    message: `the copy of history is at run ${after}, but this lake is at run ${BigInt(after) - 1n}; nothing was changed`,
    facts: { hint: expect.stringContaining('--full') },
  });
  world.lakePath = newer;
  await expectEqual('as it was');
  world.lakePath = older;
  await loadWhole();
  await expectEqual('taken back');
  world.lakePath = newer;
  await load();
  await expectEqual('newest again');
});

test('rows deleted from the copy are noticed, and a full load restores them', async () => {
  await client.query(`DELETE FROM ${SCHEMA}.items WHERE item_id IN (SELECT item_id FROM ${SCHEMA}.items LIMIT 3)`);
  const before = await readRuns();
  await world.sandbox.advance({ hours: 5, changes: 10 });
  await world.sync();
  await expect(load()).rejects.toMatchObject({
    code: 'copy_differs',
    message: expect.stringMatching(/^the copy of items would have \d+ rows/),
  });
  expect(await readRuns()).toBe(before);
  await loadWhole();
  await expectEqual('whole again');
});

test('a product key longer than an index row is loaded and remains the key', async () => {
  // Random letters, because PostgreSQL compresses repeated ones.
  const long = Array.from({ length: 6000 }, () => String.fromCharCode(97 + Math.floor(Math.random() * 26))).join('');
  const intercept = changeText(/\/export$/, (text) =>
    text.replace(
      /"brand":("[^"]*"|null),"mpn":("[^"]*"|null),"gtin":("[^"]*"|null)/,
      `"brand":"B","mpn":"${long}","gtin":null`,
    ),
  );
  const own = await openWorld({ items: 40, sites: 2, intercept });
  try {
    await own.sync();
    await loadWarehouse({ ...request(), lake: own.lakePath, schema: 'long_keys' }, openContext(true));
    const { rows } = await client.query(
      `SELECT length(product_id) AS n FROM long_keys.products ORDER BY 1 DESC LIMIT 1`,
    );
    expect(rows).toEqual([{ n: 6002 }]);
    const repeated = client.query('INSERT INTO long_keys.products SELECT * FROM long_keys.products LIMIT 1');
    await expect(repeated).rejects.toThrow('products_key');
  } finally {
    await own.close();
  }
});
