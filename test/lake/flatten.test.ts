import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { logPath } from '../../src/lake/delta-log.js';
import { flattenTables, isMisplaced, sortMisplaced } from '../../src/lake/flatten.js';
import type { Lake } from '../../src/lake/lake.js';
import { privatePath, tablePath } from '../../src/lake/layout.js';
import { markPartial } from '../../src/lake/partial.js';
import { readPointer } from '../../src/lake/pointer.js';
import { publishPointer } from '../../src/lake/publish.js';
import { readTable } from '../../src/lake/read.js';
import type { DataFile } from '../../src/tables/table.js';
import { createFakeIo } from '../api/fake-io.js';
import { AT, ITEM, makeLake, openDatabase, select, write } from './fixture.js';
import { useHiveFolders } from './hive-folders.js';

/** Items in folders, one file that is in its place, and a table that is derived from items. */
async function makeHiveLake(itemsVersion = 1n): Promise<Lake> {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: select('items', ITEM, 'range(9) AS r(i)') });
  await write(db, lake, { table: 'history', select: select('history', { observed_date: "DATE '2026-11-20'" }) });
  const products = { table: 'products', select: select('products', { product_id: "'p'" }) } as const;
  await write(db, lake, { ...products, applied: { itemsVersion } });
  await publishPointer(lake, { pipeline: 'p', runId: 'r', runNumber: 3n, cursor: 7n, at: AT, attributions: [] });
  await useHiveFolders(lake.root);
  await write(db, lake, { select: select('items', { ...ITEM, site_id: '7' }) });
  return lake;
}

const readTables = (lake: Lake) =>
  Promise.all((['items', 'products', 'history'] as const).map((table) => readTable(lake, table)));

test('files come out of their folders as they are, in one commit a table, and all that names them follows', async () => {
  const lake = await makeHiveLake();
  const [before, products, history] = await readTables(lake);
  if (before === undefined || products === undefined || history === undefined) throw new Error('no tables');
  const inode = async ({ path }: DataFile) => (await stat(tablePath(lake, 'items', path))).ino;
  const inodes = await Promise.all(before.files.map(inode));
  const io = createFakeIo();
  expect(await flattenTables(lake, [before, products, history], io)).toEqual([
    { table: 'items', version: 2n, filesBefore: 4, filesAfter: 4, rows: 9n },
    { table: 'history', version: 1n, filesBefore: 1, filesAfter: 1, rows: 1n },
  ]);
  expect(io.events).toEqual([
    { level: 'info', event: 'lake.flattened', facts: { table: 'items', files: 3, version: 2n } },
    { level: 'info', event: 'lake.flattened', facts: { table: 'history', files: 1, version: 1n } },
  ]);
  const after = await readTables(lake);
  const [items] = after;
  expect(items?.files.map(({ path }) => path)).toEqual(
    ['0', '1', '2', '7'].map((site) => expect.stringMatching(`^site_id-${site}\\.[^/]+\\.parquet$`)),
  );
  const facts = (files: DataFile[] = []) => files.map(({ sha256, rows, bytes, stats }) => [sha256, rows, bytes, stats]);
  expect(facts(items?.files)).toEqual(expect.arrayContaining(facts(before.files)));
  expect(new Set(await Promise.all((items?.files ?? []).map(inode)))).toEqual(new Set(inodes));
  expect(after[1]?.applied.itemsVersion).toBe(2n);
  expect((await readPointer(lake))?.tables.items?.files.map(({ path }) => path)).toEqual(
    items?.files.map(({ path }) => `items/${path}`),
  );
  expect(await flattenTables(lake, after, io)).toEqual([]);
});

test('the commit says that no row changed, and leaves what a table says of itself to a later one', async () => {
  const lake = await makeHiveLake();
  const first = logPath(lake, 'items', 0n, 'json');
  await writeFile(first, (await readFile(first, 'utf8')).replace('"description":"', '"description":"Formerly: '));
  const reopened = { ...lake };
  await flattenTables(reopened, await readTables(reopened), createFakeIo());
  const lines = (await readFile(logPath(lake, 'items', 2n, 'json'), 'utf8')).trimEnd().split('\n');
  const [info, ...actions] = lines.map((line) => JSON.parse(line) as Record<string, { dataChange?: boolean }>);
  expect(info?.commitInfo).toMatchObject({ operation: 'OPTIMIZE', runId: 'flatten', actions: 6 });
  expect(actions.map((action) => Object.entries(action).map(([name, { dataChange }]) => [name, dataChange]))).toEqual(
    ['remove', 'remove', 'remove', 'add', 'add', 'add'].map((name) => [[name, false]]),
  );
  expect((await readdir(privatePath(lake))).sort()).toEqual(['format.json', 'staging', 'tmp']);
});

test('what is derived from items follows no other table', async () => {
  const lake = await makeHiveLake(0n);
  const history = await readTable(lake, 'history');
  expect(history.version).toBe(0n);
  expect(await flattenTables(lake, [history], createFakeIo())).toMatchObject([{ table: 'history', version: 1n }]);
  expect((await readTable(lake, 'products')).applied.itemsVersion).toBe(0n);
});

test('nothing is published where nothing is misplaced', async () => {
  const lake = await makeHiveLake();
  await flattenTables(lake, await readTables(lake), createFakeIo());
  const catalog = join(lake.root, 'catalog.sql');
  await rm(catalog);
  expect(await flattenTables(lake, await readTables(lake), createFakeIo())).toEqual([]);
  await expect(stat(catalog)).rejects.toThrow('ENOENT');
});

test('a file in a folder or of another program is misplaced', () => {
  const own = { path: 'a.parquet', sha256: 'a' } as DataFile;
  expect(isMisplaced(own)).toBe(false);
  expect(isMisplaced({ ...own, path: 'b/a.parquet' })).toBe(true);
  expect(isMisplaced({ path: 'a.parquet' } as DataFile)).toBe(true);
});

test('files of other programs are to be rewritten, with the rows that they hold; a damaged one stays', async () => {
  const lake = await makeHiveLake();
  const { files } = await readTable(lake, 'items');
  const [damaged, foreign, moving] = files.filter(isMisplaced);
  if (damaged === undefined || foreign === undefined || moving === undefined) throw new Error('not three files');
  await writeFile(tablePath(lake, 'items', damaged.path), 'x');
  const others = [damaged, { ...foreign, sha256: undefined, rows: 0n }, moving];
  const sorted = await sortMisplaced(lake, { table: 'items', files: others as DataFile[] });
  expect(sorted).toEqual({ movable: [moving], foreign: [{ ...foreign, sha256: undefined, rows: 3n }] });
});

test('a misplaced file that is on the remote only is asked for', async () => {
  const lake = await makeHiveLake();
  const state = await readTable(lake, 'items');
  for (const { path } of state.files.filter(isMisplaced)) await rm(tablePath(lake, 'items', path));
  await markPartial(lake, { remote: 's3://bucket/lake' });
  await expect(sortMisplaced(lake, state)).rejects.toThrow('3 of 3 data files are on s3://bucket/lake only');
});
