import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { planLoad } from '../../src/deliver/load-plan.js';
import { writeLoadsTable } from '../../src/deliver/load-sql.js';
import { selectChanges } from '../../src/deliver/select-changes.js';
import { commitTable } from '../../src/lake/commit.js';
import { readTable } from '../../src/lake/read.js';
import { stageTable } from '../../src/lake/stage.js';
import type { Database } from '../../src/sql/connection.js';
import { type Lake, tablePath } from '../../src/tables/layout.js';
import type { DataFile, TableName } from '../../src/tables/table.js';
import { AT, makeLake, openDatabase, select } from '../lake/fixture.js';
import { loadTable, relate, TARGET } from './copy.js';

let lake: Lake;
let db: Database;
let copy: Database;

/** Changes on two days; those of the first day were found by a comparison, so they have no id. */
const rows = (run: number, from: string) =>
  select(
    'history',
    {
      change_id: 'CASE WHEN i % 2 = 1 THEN i END',
      item_id: 'i',
      kind: "'CHANGED'",
      observed_at: "TIMESTAMPTZ '2026-11-20 10:00:00+00' + INTERVAL 1 DAY * (i % 2)",
      observed_date: "DATE '2026-11-20' + CAST(i % 2 AS INTEGER)",
      origin: "CASE WHEN i % 2 = 1 THEN 'feed' ELSE 'diff' END",
      run_id: `'run-${run}'`,
    },
    `range(${from}) AS r(i)`,
  );

interface Commit {
  run?: number;
  remove?: DataFile[];
  operation?: string;
  dataChange?: boolean;
  retentionMs?: number;
}

async function commit(table: TableName, sql: string | undefined, options: Commit = {}): Promise<void> {
  const { run, remove = [], operation = 'SYNC', dataChange = true, retentionMs = 0 } = options;
  const runId = run === undefined ? 'compact' : `run-${run}`;
  const add = sql === undefined ? [] : await stageTable(db, lake, { table, runId, select: sql });
  const applied = run === undefined ? {} : { run: BigInt(run) };
  await commitTable(lake, { table, add, remove, applied, dataChange }, { runId, operation, at: AT, retentionMs });
}

/** Files of a day, which a run or a compaction replaces. */
async function findDay(day: string): Promise<DataFile[]> {
  return (await readTable(lake, 'history')).files.filter((file) => file.partitionValues.observed_date === day);
}

const relateHistory = (files: readonly DataFile[]) => relate(lake, 'history', files);
const load = async (since: bigint | undefined) => (await loadTable(copy, lake, 'history', since)).rows.kind;

async function expectEqual(): Promise<void> {
  const there = relateHistory((await readTable(lake, 'history')).files);
  const read = async (from: string) =>
    (await copy.rows(`SELECT to_json(r)::VARCHAR AS line FROM ${from} AS r ORDER BY 1`)).map(({ line }) => line);
  expect(await read('history')).toEqual(await read(there));
}

const readChanges = async (since: string) => {
  const { select: sql } = await selectChanges(lake, 'history', since);
  const found = await db.rows(`SELECT change || ' ' || item_id AS line FROM (${sql}) ORDER BY 1`);
  return found.map(({ line }) => line);
};

/** Run 1 writes ten changes, which the copy loads. */
async function runOnce(): Promise<void> {
  await commit('history', rows(1, '0, 10'), { run: 1 });
  await commit('runs', select('runs', { run_id: "'run-1'" }), { run: 1 });
  await load(undefined);
}

/** Run 2 writes two more, and takes change 4 of the first day away. */
async function runTwice(retentionMs = 0): Promise<void> {
  await runOnce();
  const day = await findDay('2026-11-20');
  const kept = `SELECT * FROM ${relateHistory(day)} WHERE item_id <> 4`;
  await commit('history', `${kept} UNION ALL ${rows(2, '10, 12')}`, { run: 2, remove: day, retentionMs });
  await commit('runs', select('runs', { run_id: "'run-2'" }), { run: 2 });
}

beforeEach(async () => {
  lake = await makeLake();
  db = await openDatabase(1);
  copy = await openDatabase(1);
  await copy.run(writeLoadsTable(TARGET));
});

test('a partition that lost rows is loaded as a whole, beside the rows that runs added to others', async () => {
  await runTwice();
  expect(await load(1n)).toBe('runs');
  await expectEqual();
  expect((await copy.rows('SELECT count(*) AS n FROM history'))[0]?.n).toBe(11n);
});

test('a row that a run removed is reported as gone while its old file is kept', async () => {
  await runTwice(24 * 3600 * 1000);
  expect(await readChanges('1')).toEqual(['gone 4', 'new 10', 'new 11']);
});

test('a removed row is an error once its old file is no longer kept', async () => {
  await runTwice();
  await expect(readChanges('1')).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('history') });
});

test('compaction is not reported as a change, however often it moves rows', async () => {
  await runOnce();
  const compact = async () => {
    const day = await findDay('2026-11-21');
    const options = { remove: day, operation: 'OPTIMIZE', dataChange: false };
    await commit('history', `SELECT * FROM ${relateHistory(day)}`, options);
  };
  await compact();
  expect(await readChanges('1')).toEqual([]);
  await commit('history', rows(2, '10, 12'), { run: 2 });
  await commit('runs', select('runs', { run_id: "'run-2'" }), { run: 2 });
  await compact();
  expect(await readChanges('1')).toEqual(['new 10', 'new 11']);
  expect(await load(1n)).toBe('runs');
  await expectEqual();
  expect((await copy.rows('SELECT count(*) AS n FROM history'))[0]?.n).toBe(12n);
});

test('a cleaned log refuses changes since older runs but allows a full load', async () => {
  await runTwice();
  for (let run = 3; run <= 12; run += 1) await commit('history', rows(run, `${10 * run}, ${10 * run + 1}`), { run });
  await commit('runs', select('runs', { run_id: "'run-12'" }), { run: 12 });
  const log = tablePath(lake, 'history', '_delta_log');
  const entries = (await readdir(log)).filter((name) => name.endsWith('.json') && name < '00000000000000000010');
  for (const name of entries) await rm(join(log, name));
  await expect(planLoad(lake, 'history', 1n)).rejects.toMatchObject({ code: 'usage' });
  await load(undefined);
  await expectEqual();
});

test('rows that a rebuild replaced require a full load', async () => {
  await runTwice();
  const { files } = await readTable(lake, 'history');
  await commit('history', rows(2, '0, 5'), { remove: files, operation: 'REBUILD' });
  await expect(planLoad(lake, 'history', 2n)).rejects.toMatchObject({ code: 'usage' });
  expect((await planLoad(lake, 'history', undefined)).rows.kind).toBe('all');
});
