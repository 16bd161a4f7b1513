import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { commitTable } from '../../src/lake/commit.js';
import { readTable } from '../../src/lake/read.js';
import { stageTable } from '../../src/lake/stage.js';
import { tablePath } from '../../src/tables/layout.js';
import { AT, glob, ITEM, makeLake, openDatabase, readRows, select, write } from './fixture.js';

const INFO = { runId: 'r', operation: 'TEST', at: AT };
const source = select('items', ITEM, 'range(10) AS r(i)');

// I3 of SPEC.md
test('of writers that race for a version one wins, the others change nothing', async () => {
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

test('a change that changes nothing makes no version', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const nothing = { table: 'items' as const, add: [], remove: [], applied: {} };
  expect(await commitTable(lake, nothing, INFO)).toBe(-1n);
  await write(db, lake, { select: source, applied: { cursor: 5n } });
  expect(await commitTable(lake, { ...nothing, applied: { cursor: 5n } }, INFO)).toBe(0n);
  expect(await readdir(tablePath(lake, 'items', '_delta_log'))).toHaveLength(1);
  expect(await commitTable(lake, { ...nothing, applied: { cursor: 6n } }, INFO)).toBe(1n);
});

test('an empty select stages no file, and a table may begin without rows', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const none = select('items', ITEM, 'range(0) AS r(i)');
  expect(await stageTable(db, lake, { table: 'items', runId: 'r', select: none })).toEqual([]);
  expect(await stageTable(db, lake, { table: 'items', runId: 'r', select: none, partitionBy: [] })).toEqual([]);
  expect(await write(db, lake, { select: none, applied: { cursor: 1n } })).toBe(0n);
  expect(await write(db, lake, { select: source, partitionBy: [], applied: { cursor: 2n } })).toBe(1n);
  expect((await readTable(lake, 'items')).files).toHaveLength(1);
});
