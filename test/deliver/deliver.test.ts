import { cpSync } from 'node:fs';
import { copyFile, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadWarehouse } from '../../src/cli/actions/load-warehouse.js';
import { showChanges } from '../../src/cli/actions/show-changes.js';
import { planLoad, type TableLoad } from '../../src/deliver/load-plan.js';
import { writeLoadsTable } from '../../src/deliver/load-sql.js';
import { readManifest } from '../../src/deliver/manifest.js';
import { requireBase, writeForLoader } from '../../src/deliver/manifest-formats.js';
import type { Warehouse } from '../../src/deliver/names.js';
import { selectChanges } from '../../src/deliver/select-changes.js';
import { parseSince } from '../../src/deliver/since.js';
import { openLake } from '../../src/lake/lake.js';
import { readTable } from '../../src/lake/read.js';
import { Database } from '../../src/sql/connection.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { openContext } from '../cli/open-context.js';
import { openWorld, readLake, type World } from '../run/world.js';
import { BASES, loadTable, relate, TARGET } from './copy.js';

const TABLES = ['items', 'history', 'products', 'price_spread', 'sites', 'runs'] as const;
const KEYS: Record<(typeof TABLES)[number], string> = {
  items: 'item_id',
  history: 'concat(change_id, item_id, observed_at, kind)',
  products: 'product_id',
  price_spread: 'concat(product_id, currency)',
  sites: 'concat(site_id, valid_from)',
  runs: 'run_number',
};

/** Every row of a table by its key, as text. */
type Copy = Map<string, string>;

let world: World;
/** The content of the tables after each run; run 0 means empty tables. */
const copies: Record<(typeof TABLES)[number], Copy>[] = [];
const times: Date[] = [];

async function copyTable(table: keyof typeof KEYS): Promise<Copy> {
  const lake = await openLake(world.lakePath, { create: false });
  const from = relate(lake, table, (await readTable(lake, table)).files);
  const rows = await readLake(
    world.lakePath,
    () => `SELECT ${KEYS[table]}, to_json(r)::VARCHAR
      FROM (SELECT * REPLACE (NULL AS run_id) FROM ${from}) AS r`,
  );
  return new Map(rows.map(([key, row]) => [String(key), String(row)]));
}

/** The lake as a run left it. */
const lakeAt = (run: number) => path.join(world.folder, `lake-at-${run}`);

async function run(): Promise<void> {
  await world.sync();
  const copy = {} as (typeof copies)[number];
  for (const table of TABLES) copy[table] = await copyTable(table);
  cpSync(world.lakePath, lakeAt(copies.length), { recursive: true });
  copies.push(copy);
  times.push(new Date());
}

beforeAll(async () => {
  world = await openWorld({ items: 150, sites: 4, pastDays: 3 });
  copies.push(Object.fromEntries(TABLES.map((table) => [table, new Map()])) as (typeof copies)[number]);
  times.push(new Date(0));
  await run();
  world.pipeline = { ...world.pipeline, lake: { ...world.pipeline.lake, retention: 24 * 3600 * 1000 } };
  for (const changes of [30, 60]) {
    await world.sandbox.advance({ hours: 1, changes });
    await run();
  }
});
afterAll(() => world.close());

/** `change key` of every row that differs between two copies. */
function compare(before: Copy, after: Copy): string[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys]
    .filter((key) => before.get(key) !== after.get(key))
    .map((key) => `${!before.has(key) ? 'new' : !after.has(key) ? 'gone' : 'changed'} ${key}`)
    .sort();
}

async function readChanges(table: TableName, since: string, columns: string): Promise<string[]> {
  const lake = await openLake(world.lakePath, { create: false });
  const db = await Database.open();
  try {
    const { select } = await selectChanges(lake, table, since);
    const rows = await db.rows(`SELECT concat_ws(' ', ${columns}) AS line FROM (${select})`);
    return rows.map(({ line }) => String(line)).sort();
  } finally {
    await db.close();
  }
}

describe('changes', () => {
  test.each(TABLES)('of %s are exactly the rows that differ since each run', async (table) => {
    for (const run of [0, 1, 2, 3]) {
      const expected = compare(copies[run]?.[table] as Copy, copies[3]?.[table] as Copy);
      expect(await readChanges(table, String(run), `change, ${KEYS[table]}`), `since run ${run}`).toEqual(expected);
    }
    if (table === 'items') expect(compare(copies[1]?.items as Copy, copies[3]?.items as Copy).join()).toMatch(/new.*/);
  });

  test('of items list the columns that differ and the events in history', async () => {
    const names = await readChanges('items', '1', "change, array_to_string(changed_columns, ',')");
    expect(names.some((line) => /^changed .*\bprice\b/.test(line))).toBe(true);
    const told = await readLake(
      world.lakePath,
      (glob) => `SELECT item_id, string_agg(kind, ',' ORDER BY observed_at, change_id) FROM ${glob('history')}
        WHERE run_id <> (SELECT min(run_id) FROM ${glob('runs')}) AND item_id IS NOT NULL GROUP BY 1`,
    );
    const events = await readChanges('items', '1', "item_id, array_to_string(events, ',')");
    expect(events).toEqual(told.map(([id, kinds]) => `${id} ${kinds}`).sort());
  });

  test('since a version or a time equal those since its run', async () => {
    const lake = await openLake(world.lakePath, { create: false });
    const { version } = await readTable(lake, 'items');
    const since = await readChanges('items', '2', 'change, item_id');
    expect(await readChanges('items', `v${version - 1n}`, 'change, item_id')).toEqual(since);
    expect(await readChanges('items', (times[2] as Date).toISOString(), 'change, item_id')).toEqual(since);
    expect(since.length).toBeGreaterThan(10);
  });

  test('are written in every format, with a report of the table and the runs', async () => {
    const output = path.join(world.folder, 'new.parquet');
    const request = { table: 'items' as const, since: '2', lake: world.lakePath };
    const report = await showChanges({ ...request, format: 'parquet', output }, openContext(true));
    const rows = BigInt((await readChanges('items', '2', 'item_id')).length);
    expect(report).toMatchObject({ rows, table: 'items', runs: [expect.stringMatching(/^000003-/)] });
    const csv = openContext();
    await showChanges({ ...request, format: 'csv' }, csv);
    expect(csv.output.text).toMatch(/^change,changed_columns,events,item_id,title,/);
  });

  test('after superseded files are deleted, are written rows for items and an error for rewritten tables', async () => {
    const folder = path.join(world.lakePath, 'items');
    const lake = await openLake(world.lakePath, { create: false });
    const current = new Set((await readTable(lake, 'items')).files.map((file) => file.path));
    const superseded = (await readdir(folder)).filter((name) => name.endsWith('.parquet') && !current.has(name));
    const known = await readChanges('items', '1', 'item_id');
    for (const name of superseded) await rename(path.join(folder, name), path.join(world.folder, name));
    expect(await readChanges('items', '1', 'change, item_id')).toEqual(known.map((id) => `written ${id}`));
    for (const name of superseded) await copyFile(path.join(world.folder, name), path.join(folder, name));
    const products = (await readTable(lake, 'products')).files.map((file) => file.path);
    for (const name of await readdir(path.join(world.lakePath, 'products')))
      if (name.endsWith('.parquet') && !products.includes(name)) await rm(path.join(world.lakePath, 'products', name));
    await expect(readChanges('products', '1', 'product_id')).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('manifest --since', () => {
  test('lists the files that runs added and removed, and loads only added files that are still current', async () => {
    const lake = await openLake(world.lakePath, { create: false });
    const manifest = await readManifest(lake, { table: 'items', since: '1', base: 'gs://b/lake/' });
    const whole = await readManifest(lake, { table: 'items', base: 'gs://b/lake' });
    const { commits = [] } = manifest;
    expect(commits.map(({ run_id }) => run_id)).toEqual([
      expect.stringMatching(/^000002-/),
      expect.stringMatching(/^000003-/),
    ]);
    const standing = new Set((await readManifest(lake, { table: 'items', since: 'v0' })).files.map(({ url }) => url));
    expect(standing.size).toBe(manifest.files.length);
    const added = commits.flatMap((commit) => commit.added);
    const removed = new Set(commits.flatMap((commit) => commit.removed.map(({ url }) => url)));
    const left = added.filter(({ url }) => !removed.has(url));
    expect(manifest.files.map(({ missing_columns: _none, ...file }) => file)).toEqual(left);
    expect(left.every(({ url }) => whole.files.some((file) => file.url === url))).toBe(true);
    expect(manifest.rows).toBe(left.reduce((sum, { rows }) => sum + rows, 0n));
    const loaded = writeForLoader(manifest, 'bigquery');
    expect(JSON.parse(loaded)).toEqual(left.map(({ url }) => url));
    expect(writeForLoader(manifest, 'snowflake')).toMatch(
      /^FILES = \('items\/site_id-\d+\.[\w-]+\.parquet'(, '.*')*\)\n$/,
    );
  });

  test("splits long lists at the loader's limit", () => {
    const file = { rows: 1n, bytes: 1, sha256: undefined, partition: {}, missing_columns: [] };
    const files = Array.from({ length: 1001 }, (_, i) => ({ ...file, url: `s3://b/it's/items/${i}.parquet` }));
    const manifest = { table: 'items' as const, version: 1n, rows: 1n, bytes: 1, files, attribution: [] };
    const lines = writeForLoader(manifest, 'snowflake').trimEnd().split('\n');
    expect(lines.map((line) => line.split(',').length)).toEqual([1000, 1]);
    expect(() => requireBase('bigquery', 's3://b')).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

describe('load', () => {
  let copy: Database;
  beforeAll(async () => {
    copy = await Database.open();
    await copy.run(writeLoadsTable(TARGET));
  });
  afterAll(() => copy.close());

  async function load(run: number, since: bigint | undefined): Promise<TableLoad[]> {
    const lake = await openLake(lakeAt(run), { create: false });
    const loads: TableLoad[] = [];
    for (const table of TABLE_NAMES) loads.push(await loadTable(copy, lake, table, since));
    return loads;
  }

  async function expectEqual(run: number): Promise<void> {
    const lake = await openLake(lakeAt(run), { create: false });
    for (const table of TABLE_NAMES) {
      const there = `SELECT * FROM ${relate(lake, table, (await readTable(lake, table)).files)}`;
      const counts = await copy.row(`WITH there AS MATERIALIZED (${there})
        SELECT (SELECT count(*) FROM (FROM ${table} EXCEPT ALL FROM there)) AS wrong, (SELECT count(*) FROM there) AS there,
          (SELECT count(*) FROM ${table}) AS here`);
      expect(counts, `${table} after run ${run}`).toMatchObject({ wrong: 0n, here: counts?.there });
    }
  }

  test('updates a copy run by run; repeating a load or loading everything again changes nothing', async () => {
    await load(1, undefined);
    await expectEqual(1);
    const loads = await load(2, 1n);
    await expectEqual(2);
    const kinds = Object.fromEntries(loads.map(({ table, rows }) => [table, rows.kind]));
    expect(kinds).toMatchObject({ history: 'runs', items: 'keys', products: 'all', rejects: 'none' });
    await load(2, 1n);
    await expectEqual(2);
    await load(3, 1n); // the copy is of run 2
    await load(1, undefined); // and not older than run 1
    await expectEqual(2);
    await load(3, 2n);
    await expectEqual(3);
    await load(3, undefined);
    await expectEqual(3);
    expect(await copy.rows('SELECT DISTINCT run_number FROM pricelake_loads')).toEqual([{ run_number: 3n }]);
  });

  test("covers several runs at once, and refuses a run that the lake doesn't have", async () => {
    await copy.run('UPDATE pricelake_loads SET run_number = 1');
    await copy.run('DELETE FROM items WHERE run_id NOT LIKE $1', ['000001-%']);
    await load(3, 1n);
    await expectEqual(3);
    const lake = await openLake(world.lakePath, { create: false });
    await expect(planLoad(lake, 'items', 9n)).rejects.toMatchObject({ code: 'usage' });
  });

  test('writes a script for each warehouse', async () => {
    for (const [warehouse, base] of Object.entries(BASES) as [Warehouse, string][]) {
      const context = openContext();
      const manifests = path.join(world.folder, 'manifests');
      const wish = { full: false, execute: false, schema: 'analytics' };
      const request = { warehouse, base, manifests, lake: world.lakePath, ...wish };
      await loadWarehouse({ ...request, since: '2' }, context);
      expect(context.output.text, warehouse).toMatch(/^CREATE TABLE IF NOT EXISTS .*pricelake_loads.*\n/i);
      await expect(loadWarehouse(request, openContext()), warehouse).rejects.toMatchObject({ code: 'usage' });
    }
    const manifest = await readFile(path.join(world.folder, 'manifests', 'items.manifest'), 'utf8');
    const { entries } = JSON.parse(manifest) as { entries: { url: string }[] };
    expect(entries[0]?.url).toMatch(/^s3:\/\/bucket\/lake\/items\/site_id-/);
  });
});

describe('--since', () => {
  test('accepts a run, a version or a time, and nothing else', () => {
    expect(parseSince('9007199254740993')).toEqual({ kind: 'run', number: 9007199254740993n });
    expect(parseSince('000041-20261122T080000Z')).toMatchObject({ kind: 'run', number: 41n });
    expect(parseSince('v14')).toEqual({ kind: 'version', version: 14n });
    expect(parseSince('2026-11-22')).toEqual({ kind: 'time', at: new Date('2026-11-22T00:00:00Z') });
    for (const text of ['', 'run', '-1', 'v', '2026-13-01', '2026-11-22T08:00', "1' OR 1"])
      expect(() => parseSince(text), text).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  test('refuses a future run, a future version, and a run of another lake', async () => {
    for (const since of ['4', 'v99', '000002-20200101T000000Z'])
      await expect(readChanges('items', since, 'item_id'), since).rejects.toMatchObject({ code: 'usage' });
  });
});
