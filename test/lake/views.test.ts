import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commitTable } from '../../src/lake/commit.js';
import { markPartial } from '../../src/lake/partial.js';
import { readPointer } from '../../src/lake/pointer.js';
import { publishPointer } from '../../src/lake/publish.js';
import { readTable, readTables } from '../../src/lake/read.js';
import { stageTable } from '../../src/lake/stage.js';
import { LakeRows, TableRows } from '../../src/lake/table-rows.js';
import { createTableView, createTableViews } from '../../src/lake/views.js';
import type { Database } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import { tableRelation } from '../../src/sql/table-relation.js';
import { tablePath } from '../../src/tables/layout.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { AT, glob, ITEM, makeLake, openDatabase, readRows, select, write } from './fixture.js';
import { add, META_DATA, makeBareLake, PROTOCOL, writeEntry } from './log-writer.js';

const MUCH_READ: TableName[] = ['items', 'history', 'sites', 'stale_items'];

const listViews = async (db: Database) =>
  (await db.rows('SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1')).map((row) => row.view_name);

test('small tables that a run reads often are loaded once, and all others are views', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  for (const table of [...MUCH_READ, 'products'] as const)
    await write(db, lake, { table, select: select(table, {}, 'range(3) AS r(i)') });
  const graph = new RelationGraph(db);
  const tables = await readTables(lake);
  const keptWith = async (fewRows: bigint) => {
    const rows = new LakeRows(graph, lake, tables, () => fewRows);
    const opened = await Promise.all(TABLE_NAMES.map((table) => rows.table(table)));
    for (const { table, rows: all } of opened)
      expect(await graph.count(all), table).toBe([...MUCH_READ, 'products'].includes(table) ? 3n : 0n);
    return opened.filter(({ isKept }) => isKept).map(({ table }) => table);
  };
  expect(await keptWith(0n)).toEqual([]);
  expect(await keptWith(2n)).toEqual([]);
  expect((await keptWith(3n)).sort()).toEqual([...MUCH_READ].sort());
});

test('views are created only for the requested tables, or for one table under another name', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: select('items', ITEM, 'range(2) AS r(i)') });
  await write(db, lake, { table: 'products', select: select('products', { product_id: "'p'" }) });
  await createTableViews(db, lake, ['items']);
  expect(await listViews(db)).toEqual(['items']);
  await createTableView(db, lake, 'products', 'published');
  expect(await db.row('SELECT product_id FROM published')).toEqual({ product_id: 'p' });
});

test('files that are only on the remote, and columns of another type, are refused', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: select('items', ITEM) });
  for (const { path } of (await readTable(lake, 'items')).files) await rm(tablePath(lake, 'items', path));
  await markPartial(lake, { remote: 's3://bucket/lake' });
  await expect(createTableViews(db, lake)).rejects.toThrow('1 of 1 data files are only on s3://bucket/lake');

  const other = await makeBareLake();
  const schemaString = META_DATA.schemaString.replace('"decimal(18,4)"', '"string"');
  await writeEntry(other, 0n, [PROTOCOL, { metaData: { ...META_DATA, schemaString } }, add('a.parquet')]);
  const refusal = /items: column price is string, but .* requires decimal/;
  await expect(createTableViews(db, other)).rejects.toThrow(refusal);
  await expect(createTableView(db, other, 'items', 'x')).rejects.toThrow(refusal);
});

const RUN = { pipeline: 'prices', runId: 'r1', runNumber: 1n, cursor: 9223372036854775807n, at: AT, attributions: [] };

test('a plain glob, the catalog, the log and the pointer yield the same rows', async () => {
  const [db, lake] = [await openDatabase(), await makeLake('bracket[1]*')];
  const source = select('items', ITEM, 'range(1000) AS r(i)');
  await write(db, lake, { select: source });
  await write(db, lake, {
    table: 'products',
    select: select('products', { product_id: "'p' || i", offers: '1', shops: '1', run_id: "'r1'" }, 'range(10) r(i)'),
  });
  await publishPointer(lake, RUN);

  const expected = await readRows(db, `(${source})`);
  const state = await readTable(lake, 'items');
  const paths = state.files.map((file) => tablePath(lake, 'items', file.path));
  expect(await readRows(db, tableRelation('items', paths))).toEqual(expected);
  expect(await readRows(db, glob(lake, 'items/*.parquet').replaceAll('[1]*-', '[[]1][*]-'))).toEqual(expected);

  await createTableViews(db, lake);
  expect(await readRows(db, 'items')).toEqual(expected);
  expect(await readRows(db, 'history')).toEqual([]);

  const pointer = await readPointer(lake);
  expect(pointer?.cursor).toBe(9223372036854775807n);
  expect(pointer?.tables.items?.files.map((file) => join(lake.root, file.path))).toEqual(paths);
  expect(pointer?.tables.items?.rows).toBe(1000n);
});

test('catalog.sql reads the published files relative to the lake, including empty tables', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const source = select('items', ITEM, 'range(100) AS r(i)');
  await write(db, lake, { select: source });
  await publishPointer(lake, RUN);
  await db.run(`SET file_search_path = ${quoteLiteral(lake.root)}`);
  await db.run(await readFile(join(lake.root, 'catalog.sql'), 'utf8'));
  expect(await readRows(db, 'items')).toEqual(await readRows(db, `(${source})`));
  const types = await db.rows('DESCRIBE history');
  expect(types.find((row) => row.column_name === 'price')?.column_type).toBe('DECIMAL(18,4)');
});

test('rewriting a partition shows only the new rows to globs, and the next version can be read before its commit', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: select('items', ITEM, 'range(30) AS r(i)') });
  const old = (await readTable(lake, 'items')).files.filter((file) => file.partitionValues.site_id === '1');
  const rewritten = select('items', { ...ITEM, title: "'new'" }, 'range(30) AS r(i) WHERE i % 3 = 1');
  const add = await stageTable(db, lake, { table: 'items', runId: 'r2', select: rewritten });
  const change = { table: 'items' as const, add, remove: old, applied: { cursor: 2n ** 60n + 1n } };
  const graph = new RelationGraph(db);
  const before = await TableRows.open(graph, lake, await readTable(lake, 'items'), 0n);
  const { rows } = await before.after(change, 0n);
  await rows.made;
  const next = await readRows(db, rows.name);
  expect(next.filter((row) => row.includes('"new"'))).toHaveLength(10);
  expect(await commitTable(lake, change, { runId: 'r2', operation: 'MERGE', at: AT })).toBe(1n);
  expect(await readRows(db, glob(lake, 'items/*.parquet'))).toEqual(next);
  expect((await readTable(lake, 'items')).applied.cursor).toBe(2n ** 60n + 1n);
});
