import { copyFile, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { realIo } from '../../src/io/real-io.js';
import { commitTable } from '../../src/lake/commit.js';
import { readTable } from '../../src/lake/read.js';
import { recoverLake } from '../../src/lake/recover.js';
import { stageTable } from '../../src/lake/stage.js';
import { privatePath, tablePath } from '../../src/tables/layout.js';
import { AT, glob, ITEM, makeLake, openDatabase, readRows, select, write } from './fixture.js';

const INFO = { runId: 'r2', operation: 'TEST', at: AT };
const rows = (title: string) => select('items', { ...ITEM, title: `'${title}'` }, 'range(30) AS r(i)');

// I3 of SPEC.md
test('a crash before the commit point leaves the previous version, and recovery removes the moved files', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: rows('old') });
  const before = await readRows(db, glob(lake, 'items/*.parquet'));
  // Recreates the state after the renames: the staged files are in place, but there is no log entry.
  const staged = await stageTable(db, lake, { table: 'items', runId: 'r2', select: rows('new') });
  for (const file of staged) await rename(file.stagedAt, tablePath(lake, 'items', file.path));
  await writeFile(privatePath(lake, 'tmp', 'half'), 'x');
  await mkdir(privatePath(lake, 'landing', 'raw'), { recursive: true });
  await writeFile(privatePath(lake, 'landing', 'raw', 'part.ndjson'), '{}');

  expect((await readTable(lake, 'items')).version).toBe(0n);
  for (let time = 0; time < 2; time += 1) await recoverLake(lake, realIo);
  expect(await readRows(db, glob(lake, 'items/*.parquet'))).toEqual(before);
  expect(await readdir(privatePath(lake, 'staging'))).toEqual([]);
  expect(await readdir(privatePath(lake, 'tmp'))).toEqual([]);
  expect(await readFile(privatePath(lake, 'landing', 'raw', 'part.ndjson'), 'utf8')).toBe('{}');
});

test('after a crash behind the commit point, recovery deletes the superseded files', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: rows('old') });
  const old = (await readTable(lake, 'items')).files;
  // Superseded files come back, as if the process had died before it deleted them.
  for (const file of old) await copyAside(tablePath(lake, 'items', file.path), privatePath(lake, 'kept', file.path));
  await write(db, lake, { select: rows('new'), remove: old });
  for (const file of old) {
    await mkdir(dirname(tablePath(lake, 'items', file.path)), { recursive: true });
    await rename(privatePath(lake, 'kept', file.path), tablePath(lake, 'items', file.path));
  }
  await recoverLake(lake, realIo);
  const left = await readRows(db, glob(lake, 'items/*.parquet'));
  expect(left).toHaveLength(30);
  expect(left.every((row) => row.includes('"title":"new"'))).toBe(true);
});

async function copyAside(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to);
}

test('a commit that fails before the commit point returns its files to staging and can be repeated', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: rows('old') });
  const staged = await stageTable(db, lake, { table: 'items', runId: 'r2', select: rows('new') });
  const change = { table: 'items' as const, add: staged, remove: (await readTable(lake, 'items')).files, applied: {} };
  // The folder in which the log entry is prepared is missing, so the renames succeed but the entry can't be written.
  await rename(privatePath(lake, 'tmp'), privatePath(lake, 'away'));
  await expect(commitTable(lake, change, INFO)).rejects.toThrow(/ENOENT/);
  expect((await readTable(lake, 'items')).version).toBe(0n);
  const seen = await readRows(db, glob(lake, 'items/*.parquet'));
  expect(seen.every((row) => row.includes('"title":"old"'))).toBe(true);

  await rename(privatePath(lake, 'away'), privatePath(lake, 'tmp'));
  expect(await commitTable(lake, change, INFO)).toBe(1n);
  expect(await readRows(db, glob(lake, 'items/*.parquet'))).toHaveLength(30);
});

const source = select('items', ITEM, 'range(10) AS r(i)');

// I3 of SPEC.md
test('if several writers race for a version, one wins and the others change nothing', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: source });
  const staged = [];
  for (let i = 0; i < 6; i += 1)
    staged.push(await stageTable(db, lake, { table: 'items', runId: `r${i}`, select: source }));
  const results = await Promise.allSettled(
    staged.map((add) => commitTable(lake, { table: 'items', add, remove: [], applied: {} }, INFO)),
  );
  const won = results.filter((result) => result.status === 'fulfilled');
  const lost = results.filter((result) => result.status === 'rejected');
  expect(new Set(won.map((result) => result.value)).size).toBe(won.length);
  expect(lost.length).toBeGreaterThan(0);
  expect(lost.every((result) => result.reason.code === 'lake_locked')).toBe(true);
  const state = await readTable(lake, 'items');
  expect(state.version).toBe(BigInt(won.length));
  expect(state.files).toHaveLength(3 * (1 + won.length));
  expect(await readRows(db, glob(lake, 'items/*.parquet'))).toHaveLength(10 * (1 + won.length));
});

test('a change without any effect creates no version', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const nothing = { table: 'items' as const, add: [], remove: [], applied: {} };
  expect(await commitTable(lake, nothing, INFO)).toBe(-1n);
  await write(db, lake, { select: source, applied: { cursor: 5n } });
  expect(await commitTable(lake, { ...nothing, applied: { cursor: 5n } }, INFO)).toBe(0n);
  expect(await readdir(tablePath(lake, 'items', '_delta_log'))).toHaveLength(1);
  expect(await commitTable(lake, { ...nothing, applied: { cursor: 6n } }, INFO)).toBe(1n);
});

test('an empty select stages no file, and a table may start without rows', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const none = select('items', ITEM, 'range(0) AS r(i)');
  expect(await stageTable(db, lake, { table: 'items', runId: 'r', select: none })).toEqual([]);
  expect(await stageTable(db, lake, { table: 'items', runId: 'r', select: none, partitionBy: [] })).toEqual([]);
  expect(await write(db, lake, { select: none, applied: { cursor: 1n } })).toBe(0n);
  expect(await write(db, lake, { select: source, partitionBy: [], applied: { cursor: 2n } })).toBe(1n);
  expect((await readTable(lake, 'items')).files).toHaveLength(1);
});
