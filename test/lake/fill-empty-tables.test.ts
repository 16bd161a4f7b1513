import { readdir, stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type Filling, fillEmptyTables } from '../../src/lake/fill-empty-tables.js';
import { readTable } from '../../src/lake/read.js';
import { type Lake, privatePath, tablePath } from '../../src/tables/layout.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { TABLE_NAMES } from '../../src/tables/table.js';
import { AT, glob, ITEM, makeLake, openDatabase, select, write } from './fixture.js';

const filling: Filling = { commit: { runId: 'r', operation: 'FILL', at: AT }, metadata: { credits: 'CC BY' } };

async function readFiles(lake: Lake) {
  return (await readTable(lake, 'items')).files;
}

test('every table without rows gets one file that shows its columns and types to a plain read', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { table: 'products', select: select('products', { product_id: "'p'" }) });
  const empty = TABLE_NAMES.filter((table) => table !== 'products');
  expect(await fillEmptyTables(db, lake, filling)).toEqual(empty);
  const types = await db.rows(`DESCRIBE FROM ${glob(lake, 'items/*.parquet')}`);
  const columns = loadTableSchema('items').columns.map(({ name }) => name);
  expect(types.map(({ column_name }) => column_name)).toEqual(columns);
  const [file, ...others] = await readFiles(lake);
  if (file === undefined) throw new Error('no file');
  const { size } = await stat(tablePath(lake, 'items', file.path));
  expect(others).toEqual([]);
  expect(file).toMatchObject({
    path: expect.stringMatching(/^empty\.[0-9a-f-]{36}\.parquet$/),
    partitionValues: { site_id: null },
    rows: 0n,
    bytes: size,
    modifiedAt: AT.getTime(),
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(JSON.parse(file.stats)).toMatchObject({ numRecords: 0 });
  const facts = await db.rows(`SELECT decode(key) AS key, decode(value) AS value
    FROM parquet_kv_metadata('${tablePath(lake, 'items', file.path)}')`);
  expect(Object.fromEntries(facts.map(({ key, value }) => [key, value]))).toMatchObject({
    'pricelake.table': 'items',
    'pricelake.run_id': 'r',
    credits: 'CC BY',
  });
  expect(await fillEmptyTables(db, lake, filling)).toEqual([]);
  expect((await readdir(privatePath(lake))).sort()).toEqual(['format.json', 'staging', 'tmp']);
});

test('only the requested tables are filled, and a new table gets the requested partitioning', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const asked = { ...filling, tables: ['items'], partitionBy: { items: ['currency'] } } as const;
  expect(await fillEmptyTables(db, lake, { ...asked, partitionBy: { items: ['currency'] } })).toEqual(['items']);
  expect((await readFiles(lake)).map(({ partitionValues }) => partitionValues)).toEqual([{ currency: null }]);
  expect((await readTable(lake, 'history')).version).toBe(-1n);
});

test('a table that lost its rows keeps its partitioning, and a table with rows is unchanged', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const partitionBy = ['currency'];
  await write(db, lake, { select: select('items', { ...ITEM, currency: "'EUR'" }), partitionBy });
  expect(await fillEmptyTables(db, lake, { ...filling, tables: ['items'] })).toEqual([]);
  const noRows = `${select('items', ITEM)} WHERE false`;
  await write(db, lake, { select: noRows, partitionBy, remove: await readFiles(lake) });
  await fillEmptyTables(db, lake, { ...filling, tables: ['items'], partitionBy: { items: ['site_id'] } });
  expect((await readFiles(lake)).map(({ partitionValues }) => partitionValues)).toEqual([{ currency: null }]);
});
