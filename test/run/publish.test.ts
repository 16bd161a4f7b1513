import { open } from 'node:fs/promises';
import { afterAll, expect, test, vi } from 'vitest';
import { COMMIT_STEPS, TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { syncWithWings } from '../../src/wings/index.js';
import { openWorld, readLake, testIo } from './world.js';

const world = await openWorld({ items: 200 });
afterAll(() => world.close());

/** A run that calls `onCommit` with the tables that are committed so far. */
const syncWith = (onCommit: (committed: readonly TableName[]) => void) => {
  const committed: TableName[] = [];
  const log: typeof testIo.log = (_level, event, facts) => {
    if (event !== 'committed') return;
    committed.push(facts?.table as TableName);
    onCommit(committed);
  };
  return syncWithWings(world.pipeline, { ...testIo, log });
};

/** FileHandle isn't exported. */
async function findFileHandle() {
  const file = await open(process.execPath);
  await file.close();
  return Object.getPrototypeOf(file) as typeof file;
}

test('every table has a commit step: history first, items before tables computed from them, the ledger last', async () => {
  expect([...new Set(COMMIT_STEPS.flat())].sort()).toEqual([...TABLE_NAMES].sort());
  const commits: TableName[] = [];
  await syncWith((committed) => commits.push(...committed.slice(-1)));
  const steps = commits.map((table) => COMMIT_STEPS.findIndex((tables) => tables.includes(table)));
  expect(steps).toEqual([...steps].sort((a, b) => a - b));
  expect(commits.slice(0, 3)).toEqual(['history', 'price_spread_daily', 'items']);
  expect(commits.slice(-2)).toEqual(['check_results', 'runs']);
});

test('tables computed from items are committed concurrently, so that the disk is waited for once', async () => {
  await world.sandbox.advance({ hours: 1, changes: 20 });
  const fileHandle = await findFileHandle();
  const { sync } = fileHandle;
  const waiting: (() => void)[] = [];
  let most = 0;
  let isHolding = false;
  const release = () => {
    isHolding = false;
    for (const go of waiting.splice(0)) go();
  };
  const spy = vi.spyOn(fileHandle, 'sync').mockImplementation(async function (this: typeof fileHandle) {
    if (isHolding) {
      const late = setTimeout(release, 5000);
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        most = Math.max(most, waiting.length);
        if (waiting.length >= 3) release();
      });
      clearTimeout(late);
    }
    return sync.call(this);
  });
  try {
    await syncWith((committed) => {
      if (committed.at(-1) === 'items') isHolding = true;
    });
  } finally {
    spy.mockRestore();
  }
  expect(most).toBeGreaterThanOrEqual(3);
});

test('if one of their commits fails, the others are committed, and the next run continues', async () => {
  await world.sandbox.advance({ hours: 1, changes: 20 });
  let atFailure: readonly TableName[] = [];
  const failing = syncWith((committed) => {
    atFailure = [...committed];
    if (committed.at(-1) === 'datasets') throw new Error('stopped here');
  });
  await expect(failing).rejects.toThrow('stopped here');
  expect(atFailure).toEqual(expect.arrayContaining(['products', 'offers', 'price_spread']));
  const next: TableName[] = [];
  await syncWith((committed) => next.push(...committed.slice(-1)));
  expect(next).toEqual(['check_results', 'runs']);
  const [[runs]] = (await readLake(world.lakePath, (glob) => `SELECT count(*) FROM ${glob('runs')}`)) as [[string]];
  expect(runs).toBe('3');
});
