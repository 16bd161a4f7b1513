import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Io } from '../../src/io/io.js';
import { realIo } from '../../src/io/real-io.js';
import { compactLake } from '../../src/lake/compact.js';
import { readPointer } from '../../src/lake/pointer.js';
import { publishPointer } from '../../src/lake/publish.js';
import { readTable } from '../../src/lake/read.js';
import { recoverLake } from '../../src/lake/recover.js';
import { createTableViews } from '../../src/lake/views.js';
import type { Database } from '../../src/sql/connection.js';
import { type Lake, tablePath } from '../../src/tables/layout.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { readDeltaTable } from '../run/delta-reader.js';
import { AT, glob, ITEM, makeLake, openDatabase, readRows, select, write } from './fixture.js';
import { optimize } from './foreign-writer.js';

const io: Io = { ...realIo, now: () => AT }; // 20 November

/** Three versions of history over two days, with one row per file and day, and items with a table derived from them. */
async function makeManyFiles(retentionMs = 0): Promise<{ lake: Lake; db: Database }> {
  const [db, lake] = [await openDatabase(), await makeLake()];
  for (let run = 0; run < 3; run += 1) {
    const change = {
      change_id: `9007199254740993 + i * 3 + ${run}`,
      kind: "'CHANGED'",
      origin: "'feed'",
      run_id: "'r'",
    };
    const day = "TIMESTAMPTZ '2026-11-18 12:00:00+00' + to_days(CAST(i AS INTEGER))";
    const values = { ...change, observed_at: day, observed_date: day, price: '1.0001' };
    await write(db, lake, { table: 'history', select: select('history', values, 'range(2) AS r(i)'), retentionMs });
  }
  for (let part = 0; part < 2; part += 1) {
    await write(db, lake, { select: select('items', ITEM, `range(${part * 9}, ${part * 9 + 9}) AS r(i)`) });
  }
  await write(db, lake, {
    table: 'products',
    select: select('products', { product_id: "'p'" }),
    applied: { itemsVersion: 1n },
  });
  const sites = {
    site_id: '2',
    name: "'Open'",
    host: "'o'",
    attribution: "'CC BY'",
    valid_from: "TIMESTAMPTZ '2026-11-01 00:00:00+00'",
  };
  await write(db, lake, { table: 'sites', select: select('sites', { ...sites, is_current: 'true', run_id: "'r'" }) });
  await publishPointer(lake, { pipeline: 'p', runId: 'r', runNumber: 3n, cursor: 7n, at: AT, attributions: [] });
  await createTableViews(db, lake);
  return { lake, db };
}

test('compaction keeps every row in fewer files with credits, as a Delta commit without a data change', async () => {
  const { lake, db } = await makeManyFiles();
  const before = await readRows(db, 'history');
  const items = await readRows(db, 'items');
  const done = await compactLake(db, lake, 'always', io);
  expect(done.map(({ table, filesBefore, filesAfter, rows }) => [table, filesBefore, filesAfter, rows])).toEqual([
    ['history', 6, 2, 6n],
    ['items', 6, 3, 18n],
  ]);
  expect(await readRows(db, glob(lake, 'history/*.parquet'))).toEqual(before);
  expect(await readRows(db, glob(lake, 'items/*.parquet'))).toEqual(items);
  const entry = await readFile(tablePath(lake, 'history', '_delta_log', '00000000000000000003.json'), 'utf8');
  expect(JSON.parse(entry.split('\n')[0] ?? '').commitInfo).toMatchObject({ operation: 'OPTIMIZE', runId: 'compact' });
  expect(entry.match(/"dataChange":false/g)).toHaveLength(8);
  expect(entry).not.toContain('"dataChange":true');
  const delta = await readDeltaTable(tablePath(lake, 'history'));
  expect([delta.files.length, delta.rows]).toEqual([2, 6]);
  const credits = await db.rows(
    `SELECT decode(value) AS value FROM parquet_kv_metadata('${delta.files[0]}') WHERE decode(key) = 'pricelake.attribution'`,
  );
  expect(String(credits[0]?.value)).toContain('CC BY');
  // Tables derived from items stay up to date, and lake.json records the same run and the new files.
  expect((await readTable(lake, 'products')).applied.itemsVersion).toBe((await readTable(lake, 'items')).version);
  const pointer = await readPointer(lake);
  expect(pointer).toMatchObject({ runNumber: 3n, cursor: 7n, at: AT });
  expect(pointer?.tables.history?.files.map(({ path }) => path).sort()).toEqual(
    delta.files.map((file) => file.slice(lake.root.length + 1)).sort(),
  );
  expect(await compactLake(db, lake, 'always', io)).toEqual([]);
});

test('with a retention, versions before a compaction stay readable until their files are old enough', async () => {
  const { lake, db } = await makeManyFiles(48 * 3_600_000);
  const before = await readRows(db, 'history');
  await compactLake(db, lake, 'always', io);
  const folder = tablePath(lake, 'history');
  for (const [version, rows] of [
    [0, 2],
    [1, 4],
    [2, 6],
    [3, 6],
  ] as const) {
    const { files } = await readDeltaTable(folder, version);
    const found = await readRows(db, `read_parquet(${JSON.stringify(files).replaceAll('"', "'")})`);
    expect([version, found.length]).toEqual([version, rows]);
    if (version >= 2) expect(found).toEqual(before);
  }
  const count = async () =>
    (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.parquet')).length;
  const recoverAfter = (hours: number) =>
    recoverLake(lake, { ...io, now: () => new Date(AT.getTime() + hours * 3_600_000) });
  await recoverAfter(47);
  expect(await count()).toBe(8);
  await recoverAfter(49);
  expect(await count()).toBe(2);
  expect(await readRows(db, glob(lake, 'history/*.parquet'))).toEqual(before);
});

test("a compaction that finds a file different from the log's entry changes nothing", async () => {
  const { lake, db } = await makeManyFiles();
  const { files } = await readTable(lake, 'history');
  const [first, second] = files.map((file) => tablePath(lake, 'history', file.path));
  await db.run(`COPY (FROM read_parquet('${first}') WHERE false) TO '${second}' (FORMAT parquet)`);
  await expect(compactLake(db, lake, 'always', io)).rejects.toMatchObject({
    code: 'lake_invalid',
    message: expect.stringContaining(`a data file is missing or damaged: history/${files[1]?.path} has `),
  });
  expect((await readTable(lake, 'history')).files).toEqual(files);
});

test('a stopped compaction starts no further table', async () => {
  const { lake, db } = await makeManyFiles();
  const stop = new AbortController();
  const logged: unknown[] = [];
  const stopping: Io = {
    ...io,
    log: (...event) => {
      logged.push(event);
      stop.abort(new Error('stopped'));
    },
  };
  await expect(compactLake(db, lake, 'always', stopping, { stop: stop.signal })).rejects.toThrow('stopped');
  const facts = { table: 'history', version: 3n, filesBefore: 6, filesAfter: 2, rows: 6n };
  expect(logged).toEqual([['info', 'lake.compacted', facts]]);
  const states = await Promise.all((['history', 'items'] as const).map((table) => readTable(lake, table)));
  expect(states.map(({ files }) => files.length)).toEqual([2, 6]);
});

test('compaction merges a partition with many files when it is due, and does nothing otherwise', async () => {
  const { lake, db } = await makeManyFiles();
  expect(await compactLake(db, lake, 'due', io)).toEqual([]);
  expect(await compactLake(db, lake, 'foreign', io)).toEqual([]);
  const published = await readPointer(lake);
  for (let part = 0; part < 15; part += 1) {
    await write(db, lake, {
      select: select('items', { ...ITEM, site_id: '1' }, `range(${part}, ${part + 1}) AS r(i)`),
    });
  }
  const [done, ...others] = await compactLake(db, lake, 'due', io);
  expect(others).toEqual([]);
  expect(done).toMatchObject({ table: 'items', filesBefore: 21, rows: 33n });
  expect((await readPointer(lake))?.tables.items?.files.length).toBe(done?.filesAfter);
  expect(published?.tables.items?.files).toHaveLength(6);
});

test('files of other programs are rewritten with their partition columns, even if none is small', async () => {
  const { lake: before, db } = await makeManyFiles();
  const rows = await readRows(db, 'items');
  await optimize(before.root, 'items');
  const lake = { ...before };
  const done = { table: 'items', version: 3n, filesBefore: 3, filesAfter: 3, rows: 18n };
  expect(await compactLake(db, lake, 'foreign', io, { targetBytes: 1 })).toEqual([done]);
  expect((await readTable(lake, 'items')).files.every(({ sha256 }) => sha256 !== undefined)).toBe(true);
  await createTableViews(db, lake);
  expect(await readRows(db, 'items')).toEqual(rows);
});

test('only compacting always gives tables without rows a file, and an existing empty file is kept', async () => {
  const { lake, db } = await makeManyFiles();
  const versionOf = async (table: TableName) => (await readTable(lake, table)).version;
  for (const when of ['due', 'foreign'] as const) {
    await compactLake(db, lake, when, io);
    expect(await versionOf('rejects')).toBe(-1n);
  }
  await compactLake(db, lake, 'always', io, { targetBytes: 1 });
  expect(await Promise.all(TABLE_NAMES.map(versionOf))).not.toContain(-1n);
  expect((await readPointer(lake))?.tables.rejects?.files).toHaveLength(1);
  expect(await compactLake(db, lake, 'always', io, { targetBytes: 1 })).toEqual([]);
});

test("compacting items doesn't make a derived table count as up to date if it was behind before", async () => {
  const { lake, db } = await makeManyFiles();
  for (let part = 0; part < 2; part += 1) await write(db, lake, { select: select('items', ITEM) });
  // History is at version 2, too.
  const products = { table: 'products', select: select('products', { product_id: "'q'" }) } as const;
  await write(db, lake, { ...products, applied: { itemsVersion: 2n } });
  const done = await compactLake(db, lake, 'always', io);
  expect(done.map(({ table, version }) => [table, version])).toEqual([
    ['history', 3n],
    ['items', 4n],
    ['products', 2n],
  ]);
  expect((await readTable(lake, 'products')).applied.itemsVersion).toBe(2n);
});
