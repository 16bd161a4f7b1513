import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { quoteList } from '../../src/sql/quote.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { readDeltaTable } from './delta-reader.js';
import { openWorld, readItems, readTruth, type World } from './world.js';

const CHILD = fileURLToPath(new URL('./read-catalog.mjs', import.meta.url));
type Rows = (string | null)[][];

const GLOBS: Partial<Record<TableName, string>> = {
  items: 'items/*.parquet',
  history: 'history/*.parquet',
};
/** No row was rejected, no response lagged, and the service's own products were not requested. */
const EMPTY: TableName[] = ['service_products', 'rejects', 'stale_items', 'offer_rules', 'user_matches'];
const globOf = (table: TableName) => GLOBS[table] ?? `${table}/*.parquet`;

async function syncThrice(world: World): Promise<void> {
  await world.sync();
  for (let run = 0; run < 2; run++) {
    await world.sandbox.advance({ hours: 12, changes: 80 });
    await world.sync();
  }
}

/** The rows of a relation as text, sorted. */
async function readRows(db: Database, relation: string): Promise<Rows> {
  const reader = await db.connection.runAndReadAll(`SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ${relation} ORDER BY ALL`);
  return reader.getRows() as Rows;
}

describe('after three syncs with changes', () => {
  let world: World;
  let db: Database;
  let tables: TableName[];
  const globbed = new Map<TableName, Rows>();

  beforeAll(async () => {
    world = await openWorld({ items: 200, sites: 8 });
    await syncThrice(world);
    db = await Database.open();
    tables = TABLE_NAMES.filter((table) => !EMPTY.includes(table));
    for (const table of tables) {
      globbed.set(table, await readRows(db, `read_parquet('${path.join(world.lakePath, globOf(table))}')`));
    }
  });
  afterAll(async () => {
    await db.close();
    await world.close();
  });

  test('a plain glob reads rows from every table', () => {
    for (const table of tables) expect([table, globbed.get(table)?.length ?? 0]).not.toEqual([table, 0]);
  });

  test('a glob reads the same rows whether or not the reader treats folder names as columns', async () => {
    for (const table of ['items', 'history'] as const) {
      const file = path.join(world.lakePath, globOf(table));
      expect(await readRows(db, `read_parquet('${file}', hive_partitioning = false)`)).toEqual(globbed.get(table));
    }
  });

  test('catalog.sql, run with the lake as working directory, gives the same rows as the globs', async () => {
    const run = promisify(execFile)(process.execPath, [CHILD, JSON.stringify(TABLE_NAMES)], {
      cwd: world.lakePath,
      maxBuffer: 1 << 28,
    });
    const views = (await run).stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as [TableName, Rows]);
    expect(views.map(([table]) => table)).toEqual([...TABLE_NAMES]);
    for (const [table, rows] of views) expect([table, rows]).toEqual([table, globbed.get(table) ?? []]);
  });

  test('the Delta log, replayed according to the protocol, lists exactly the files and rows that the globs read', async () => {
    for (const table of tables) {
      const delta = await readDeltaTable(path.join(world.lakePath, table));
      const onDisk = (await readdir(path.join(world.lakePath, table), { recursive: true }))
        .filter((name) => name.endsWith('.parquet'))
        .map((name) => path.join(world.lakePath, table, name));
      expect(delta.files.sort()).toEqual(onDisk.sort());
      expect([table, delta.rows]).toEqual([table, globbed.get(table)?.length]);
      const rows = await readRows(db, `read_parquet(${quoteList(delta.files)}, hive_partitioning = false)`);
      expect(rows).toEqual(globbed.get(table));
    }
  });

  test('the partition values in the log equal the values in the rows', async () => {
    for (const [table, column] of [
      ['items', 'site_id'],
      ['history', 'observed_date'],
    ] as const) {
      const delta = await readDeltaTable(path.join(world.lakePath, table));
      expect(delta.partitionColumns).toEqual([column]);
      for (const [file, values] of delta.partitionValues) {
        const rows = await db.rows(`SELECT DISTINCT CAST(${column} AS VARCHAR) AS value FROM read_parquet('${file}')`);
        expect(rows).toEqual([{ value: values[column] }]);
      }
    }
  });

  test('every file contains the license texts of the open data', async () => {
    const [credits = []] = (await readRows(
      db,
      `(SELECT string_agg(DISTINCT attribution, '|' ORDER BY attribution) FROM read_parquet('${world.lakePath}/sites/*.parquet') WHERE is_current)`,
    )) as [string[]];
    expect(credits[0]).toEqual(expect.any(String));
    const texts = String(credits[0]).split('|');
    for (const table of tables) {
      const { files } = await readDeltaTable(path.join(world.lakePath, table));
      const rows = await db.rows(
        `SELECT file_name, decode(value) AS value FROM parquet_kv_metadata(${quoteList(files)}) WHERE decode(key) = 'pricelake.attribution'`,
      );
      expect([table, rows.length]).toEqual([table, files.length]);
      for (const { value } of rows) for (const text of texts) expect(value).toContain(text.slice(0, 20));
    }
  });
});

describe('items may be partitioned differently', () => {
  let world: World;
  afterEach(() => world.close());

  test.each([
    [[], 'items/*.parquet'],
    [['is_listed', 'site_id'], 'items/is_listed-*.parquet'],
  ])('by %j, and stay an exact copy through several syncs', async (partitionBy, glob) => {
    world = await openWorld({ items: 120, sites: 3, history: 'none' });
    world.pipeline.lake.tables = { items: { partitionBy } };
    await syncThrice(world);
    const { files, partitionColumns, rows } = await readDeltaTable(path.join(world.lakePath, 'items'));
    expect(partitionColumns).toEqual(partitionBy);
    const truth = await readTruth(world.sandbox);
    expect(rows).toBe(truth.size);
    expect(await readItems(world.lakePath, glob)).toEqual(truth);
    const onDisk = (await readdir(path.join(world.lakePath, 'items'), { recursive: true })).filter((name) =>
      name.endsWith('.parquet'),
    );
    expect(onDisk).toHaveLength(files.length);
  });
});
