import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TABLE_NAMES } from '../../src/model.js';
import { syncPipeline } from '../../src/pipeline/sync.js';
import { makePipeline, openWorld, readLake, testIo, type World } from './world.js';

const NOW = '2026-11-21T00:00:00.000Z';
const io = { ...testIo, now: () => new Date(NOW) };
const CHILD = fileURLToPath(new URL('./run-until-killed.mjs', import.meta.url));

let world: World;
let folder: string;
/** Lakes never killed: after the first run, and after the second. */
let bootstrapped: Record<string, string[][]>;
let synced: Record<string, string[][]>;

beforeAll(async () => {
  world = await openWorld({ items: 200, sites: 3, limits: { historyDays: 3 } });
  folder = await mkdtemp(path.join(tmpdir(), 'pricelake-crash-'));
});

afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

/** Every table by plain glob; of the ledger what does not depend on the number of tries. */
async function readTables(lakePath: string): Promise<Record<string, string[][]>> {
  const tables: Record<string, string[][]> = {};
  for (const table of TABLE_NAMES) {
    const columns = table === 'runs' ? '* EXCLUDE (calls, tries, seconds, bytes_received)' : '*';
    const kept = table === 'check_results' ? `${columns} EXCLUDE (seconds)` : columns;
    const exists = (await readdir(path.join(lakePath, table)).catch(() => [])).some((name) => name !== '_delta_log');
    tables[table] = exists ? await readLake(lakePath, (glob) => `SELECT ${kept} FROM ${glob(table)} ORDER BY ALL`) : [];
  }
  return tables;
}

/** Runs in a child that is killed at its `killAt`-th step. True if it lived to be killed. */
function runUntilKilled(lakePath: string, killAt: number, commits: readonly string[]): Promise<boolean> {
  const pipeline = makePipeline(world.sandbox, lakePath);
  const input = JSON.stringify({ pipeline, now: NOW, killAt, commits });
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [CHILD, input], (error, _stdout, stderr) => {
      if (error === null) resolve(false);
      else if (error.signal === 'SIGKILL') resolve(true);
      else reject(new Error(stderr));
    });
  });
}

/** Kills at every step; of the commits, at those of `commits`. Returns the number of steps. */
async function expectSameAfterKill(
  from: string | undefined,
  expected: Record<string, string[][]>,
  commits: readonly string[],
): Promise<number> {
  for (let step = 1; ; step++) {
    const lakePath = path.join(folder, `killed-${step}`);
    if (from !== undefined) await cp(from, lakePath, { recursive: true });
    world.requests.length = 0;
    const killed = await runUntilKilled(lakePath, step, commits);
    if (killed) {
      const report = await syncPipeline(makePipeline(world.sandbox, lakePath), io);
      expect(report.resumed, `step ${step}`).toBe(true);
    }
    expectNothingTwice(step);
    expect(await readTables(lakePath), `step ${step}`).toEqual(expected);
    await rm(lakePath, { recursive: true });
    if (!killed) return step - 1;
  }
}

/** Plan and fence aside, what has landed is not asked for again: only the one request under way when it was killed. */
function expectNothingTwice(step: number): void {
  const paid = world.requests.filter((request) => /^\/(export|changes\?|items)/.test(request));
  const repeated = paid.length - new Set(paid).size;
  expect(repeated, `step ${step}: ${world.requests.join(' ')}`).toBeLessThanOrEqual(1);
}

describe('a run that is killed at any step and started again', () => {
  test('ends in the tables of a first run that was never killed', async () => {
    const lakePath = path.join(folder, 'bootstrapped');
    await syncPipeline(makePipeline(world.sandbox, lakePath), io);
    bootstrapped = await readTables(lakePath);
    expect(await expectSameAfterKill(undefined, bootstrapped, ['history', 'items', 'runs'])).toBeGreaterThanOrEqual(10);
  }, 120_000);

  test('ends in the tables of a later run that was never killed', async () => {
    const before = path.join(folder, 'before');
    await syncPipeline(makePipeline(world.sandbox, before), io);
    await world.sandbox.advance({ hours: 6, changes: 120 });
    const lakePath = path.join(folder, 'synced');
    await cp(before, lakePath, { recursive: true });
    await syncPipeline(makePipeline(world.sandbox, lakePath), io);
    synced = await readTables(lakePath);
    expect(synced.items).not.toEqual(bootstrapped.items);
    expect(await expectSameAfterKill(before, synced, TABLE_NAMES)).toBeGreaterThanOrEqual(17);
  }, 120_000);
});
