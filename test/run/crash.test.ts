import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { syncWithWings } from '../../src/wings/index.js';
import { makePipeline, openWorld, readTables, testIo } from './world.js';

const NOW = '2026-11-21T00:00:00.000Z';
const io = { ...testIo, now: () => new Date(NOW) };
const CHILD = fileURLToPath(new URL('./run-until-killed.mjs', import.meta.url));

/** One staged table stands for all, because none is visible yet. The first, the last and one other commit are included. */
const STEP = /^(landed|settled|staged items|audited|committed (history|items|runs)|pointed)/;
/** The steps that differ in a first run: what lands, and commits without a previous version. */
const FIRST_STEP = /^(landed (export|feed|datasets)|committed (history|runs))/;

let folder: string;
/** A lake after its first run, and its tables. */
let bootstrapped: string;
let first: Record<string, string[][]>;

const world = await openWorld({ items: 60, sites: 2, limits: { historyDays: 3 } });
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pricelake-crash-'));
  bootstrapped = path.join(folder, 'bootstrapped');
});

afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

/** A lake in the state in which a kill at this step leaves it. */
interface Still {
  step: string;
  lakePath: string;
  /** The requests of the run until then. */
  asked: string[];
}

/** Runs, and copies the lake at each step, without the work folder, which a run deletes first. */
async function syncWithStills(lakePath: string, at: RegExp): Promise<Still[]> {
  const stills: Still[] = [];
  world.requests.length = 0;
  const log: typeof io.log = (_level, event, { what = '', table = '' } = {}) => {
    const step = `${event} ${what}${table}`;
    if (!at.test(step)) return;
    const still = `${lakePath}-${stills.length}`;
    cpSync(lakePath, still, { recursive: true, filter: (file) => !file.includes('/_pricelake/work/') });
    abandonLock(still);
    stills.push({ step, lakePath: still, asked: [...world.requests] });
  };
  await syncWithWings(makePipeline(world.sandbox, lakePath), { ...io, log });
  return stills;
}

/** Makes the lock's owner a process with this number that started at another time, and so has ended. */
function abandonLock(lakePath: string): void {
  const file = path.join(lakePath, '_pricelake', 'lock');
  const owner = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  writeFileSync(file, JSON.stringify({ ...owner, startedAt: '1' }));
}

/** Runs in another process, which SIGKILL ends at `step`. */
async function killAt(step: string, lakePath: string): Promise<Still> {
  world.requests.length = 0;
  const input = JSON.stringify({ pipeline: makePipeline(world.sandbox, lakePath), now: NOW, killAt: step });
  const signal = await new Promise((resolve) => {
    execFile(process.execPath, [CHILD, input], (error, _stdout, stderr) => resolve(error?.signal ?? stderr));
  });
  expect(signal).toBe('SIGKILL');
  return { step, lakePath, asked: [...world.requests] };
}

async function expectSameAfterRestart({ step, lakePath, asked }: Still, tables: Record<string, string[][]>) {
  world.requests.length = 0;
  const report = await syncWithWings(makePipeline(world.sandbox, lakePath), io);
  expect(report.resumed, step).toBe(true);
  expectNothingTwice(step, [...asked, ...world.requests]);
  expect(await readTables(lakePath), step).toEqual(tables);
  await rm(lakePath, { recursive: true });
}

/** Except for the plan and the low watermark, at most the request in progress at the kill is repeated. */
function expectNothingTwice(step: string, requests: string[]): void {
  const paid = requests.filter((request) => /^\/(export|changes\?|items)/.test(request));
  const repeated = paid.length - new Set(paid).size;
  expect(repeated, `${step}: ${requests.join(' ')}`).toBeLessThanOrEqual(1);
}

describe('a run that is killed at any step and restarted', () => {
  // I0 of SPEC.md
  test('ends with the same tables as a first run that was never killed', async () => {
    const stills = await syncWithStills(bootstrapped, FIRST_STEP);
    first = await readTables(bootstrapped);
    expect(stills.length).toBeGreaterThanOrEqual(4);

    for (const still of stills) await expectSameAfterRestart(still, first);
  });

  test('ends with the same tables as a later run that was never killed', async () => {
    await world.sandbox.advance({ hours: 6, changes: 40 });
    const synced = path.join(folder, 'synced');
    await cp(bootstrapped, synced, { recursive: true });
    const stills = await syncWithStills(synced, STEP);
    const later = await readTables(synced);
    expect(later.items).not.toEqual(first.items);
    expect(stills.length).toBeGreaterThanOrEqual(9);

    for (const still of stills) await expectSameAfterRestart(still, later);
    // Shows that a copied lake equals one that SIGKILL left.
    for (const step of ['staged items', 'committed items']) {
      const lakePath = path.join(folder, 'killed');
      await cp(bootstrapped, lakePath, { recursive: true });
      await expectSameAfterRestart(await killAt(step, lakePath), later);
    }
  });
});
