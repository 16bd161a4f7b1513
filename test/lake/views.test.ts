import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { markPartial } from '../../src/lake/partial.js';
import { readTable } from '../../src/lake/read.js';
import { LakeRows } from '../../src/lake/table-rows.js';
import { createTableView, createTableViews } from '../../src/lake/views.js';
import { readTables } from '../../src/run/open/open-tables.js';
import type { Database } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { tablePath } from '../../src/tables/layout.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { ITEM, makeLake, openDatabase, select, write } from './fixture.js';
import { add, META_DATA, makeBareLake, PROTOCOL, writeEntry } from './log-writer.js';

const MUCH_READ: TableName[] = ['items', 'history', 'sites', 'stale_items'];

const listViews = async (db: Database) =>
  (await db.rows('SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1')).map((row) => row.view_name);

test('small tables that a run reads much are read once, all others are views', async () => {
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

test('views are made of the tables that are asked for alone, or of one under another name', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: select('items', ITEM, 'range(2) AS r(i)') });
  await write(db, lake, { table: 'products', select: select('products', { product_id: "'p'" }) });
  await createTableViews(db, lake, ['items']);
  expect(await listViews(db)).toEqual(['items']);
  await createTableView(db, lake, 'products', 'published');
  expect(await db.row('SELECT product_id FROM published')).toEqual({ product_id: 'p' });
});

test('files that are on the remote only, and columns of another type, are refused', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: select('items', ITEM) });
  for (const { path } of (await readTable(lake, 'items')).files) await rm(tablePath(lake, 'items', path));
  await markPartial(lake, { remote: 's3://bucket/lake' });
  await expect(createTableViews(db, lake)).rejects.toThrow('1 of 1 data files are on s3://bucket/lake only');

  const other = await makeBareLake();
  const schemaString = META_DATA.schemaString.replace('"decimal(18,4)"', '"string"');
  await writeEntry(other, 0n, [PROTOCOL, { metaData: { ...META_DATA, schemaString } }, add('a.parquet')]);
  const refusal = /items: column price is string, .* says decimal/;
  await expect(createTableViews(db, other)).rejects.toThrow(refusal);
  await expect(createTableView(db, other, 'items', 'x')).rejects.toThrow(refusal);
});
