import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLog } from '../../src/lake/delta-log.js';
import type { Lake } from '../../src/lake/lake.js';
import { readTable } from '../../src/lake/read.js';
import { privatePath, tablePath } from '../../src/tables/layout.js';
import type { TableState } from '../../src/tables/table.js';
import { AT, glob, ITEM, makeLake, openDatabase, readRows, select, write } from './fixture.js';

const CURSOR = 9223372036854775000n;

/** Of a process that has not replayed it yet. */
const reopen = (lake: Lake): Lake => ({ ...lake });

/** Ten rewrites of one partition each on top of a first version. */
async function writeVersions(count: number): Promise<Lake> {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: select('items', ITEM, 'range(30) AS r(i)'), applied: { cursor: CURSOR } });
  for (let version = 1; version < count; version += 1) {
    const site = String(version % 3);
    const remove = (await readTable(lake, 'items')).files.filter((file) => file.partitionValues.site_id === site);
    const source = select('items', { ...ITEM, title: `'${version}'` }, `range(30) AS r(i) WHERE i % 3 = ${site}`);
    const at = new Date(AT.getTime() + version * 600_000);
    await write(db, lake, { select: source, remove, applied: { cursor: CURSOR + BigInt(version) }, at });
  }
  return reopen(lake);
}

async function readWithout(lake: Lake, part: RegExp): Promise<TableState> {
  const log = tablePath(lake, 'items', '_delta_log');
  for (const name of await readdir(log)) if (part.test(name)) await rm(join(log, name));
  return readTable(reopen(lake), 'items');
}

test('a checkpoint gives what the replay of the whole log gives', async () => {
  const lake = await writeVersions(13);
  const withCheckpoint = await readLog(lake, 'items');
  expect(withCheckpoint.checkpoint).toBe(10n);
  const state = await readTable(lake, 'items');
  expect(state.applied.cursor).toBe(CURSOR + 12n);
  const pointer = JSON.parse(await readFile(tablePath(lake, 'items', '_delta_log', '_last_checkpoint'), 'utf8'));
  expect(pointer).toMatchObject({ version: 10, numOfAddFiles: 3 });

  expect(await readWithout(lake, /checkpoint/)).toEqual({ ...state, checkpoint: undefined });
  const replayed = await readLog(reopen(lake), 'items');
  expect({ ...withCheckpoint.metaData, name: undefined }).toEqual({ ...replayed.metaData, name: undefined });
  expect(withCheckpoint.protocol).toEqual(replayed.protocol);
});

test('the pointer to a checkpoint says how many actions, files and bytes it has, and nothing is left beside', async () => {
  const [db, lake] = [await openDatabase(), await writeVersions(11)];
  const log = tablePath(lake, 'items', '_delta_log');
  const path = join(log, '00000000000000000010.checkpoint.parquet');
  const [row] = await db.rows(`SELECT count(*) AS actions, count(add) AS files, count(remove) FILTER (WHERE
    remove.dataChange) AS tombstones FROM read_parquet('${path}')`);
  // Protocol, metadata, run and cursor, three files, and what the last hour removed.
  expect(row).toEqual({ actions: 12n, files: 3n, tombstones: 6n });
  expect(JSON.parse(await readFile(join(log, '_last_checkpoint'), 'utf8'))).toEqual({
    version: 10,
    size: 12,
    sizeInBytes: (await stat(path)).size,
    numOfAddFiles: 3,
  });
  expect(await readdir(privatePath(lake, 'tmp'))).toEqual([]);
});

test('a table is read from its checkpoint when the entries before it are gone', async () => {
  const lake = await writeVersions(12);
  const state = await readTable(lake, 'items');
  expect(state.version).toBe(11n);
  expect(await readWithout(lake, /^0{19}\d\.json$|_last_checkpoint/)).toEqual(state);
});

test('a checkpoint keeps partition values that are null or not ASCII, and paths that need encoding', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const from = `(VALUES (NULL), ('a b/c%'), ('日本 🛒'), ('"quote"')) AS v(brand)`;
  const source = select(
    'products',
    { product_id: "'p'", brand: 'brand', offers: '1', shops: '1', run_id: "'r'" },
    from,
  );
  for (let version = 0; version < 11; version += 1) {
    const remove = (await readTable(lake, 'products')).files;
    await write(db, lake, {
      table: 'products',
      select: source,
      partitionBy: ['brand'],
      remove,
      applied: { run: BigInt(version) },
    });
  }
  const state = await readTable(lake, 'products');
  expect((await readLog(reopen(lake), 'products')).checkpoint).toBe(10n);
  expect(new Set(state.files.map((file) => file.partitionValues.brand))).toEqual(
    new Set([null, 'a b/c%', '日本 🛒', '"quote"']),
  );
  const log = tablePath(lake, 'products', '_delta_log');
  for (const name of await readdir(log)) if (name.includes('checkpoint')) await rm(join(log, name));
  expect(await readTable(lake, 'products')).toEqual({ ...state, checkpoint: undefined });
});

test('the documented globs pass a checkpoint by; a deeper one fails loudly instead of mixing it in', async () => {
  const lake = await writeVersions(11);
  const db = await openDatabase();
  expect(await readRows(db, glob(lake, 'items/*.parquet'))).toHaveLength(30);
  await expect(readRows(db, glob(lake, 'items/**/*.parquet'))).rejects.toThrow(/schema mismatch/i);
});
