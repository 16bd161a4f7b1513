import { afterEach, expect, test } from 'vitest';
import type { Io } from '../../src/io/io.js';
import { syncWithWings } from '../../src/wings/index.js';
import { failure } from '../failure.js';
import { openWorld, readItems, readTruth, refuse, testIo, type World } from './world.js';

let world: World;
afterEach(() => world.close());

/** Refuses the given number of calls, starting with one of them. `counted` is true if the service counts refused calls. */
async function openRefusing(status: 401 | 429, from: number, counted: boolean): Promise<{ left: number }> {
  const refusals = { left: 0 };
  world = await openWorld({
    items: 40,
    sites: 2,
    history: 'none',
    checks: 'all',
    intercept: async (request, next) => {
      if (world.requests.length < from || refusals.left === 0) return next(request);
      refusals.left--;
      if (counted) await next(new Request(new URL('/api/v1/plan', request.url), { headers: request.headers }));
      return refuse(status, status === 429 ? { limit: 'ratePerSecond' } : {});
    },
  });
  return refusals;
}

async function expectMatchingLedger(refused: bigint, counted: boolean): Promise<void> {
  const { row, checks } = await world.sync();
  expect(row).toMatchObject({ calls_refused: refused, calls: BigInt(world.requests.length) });
  expect((row.usage_calls ?? 0n) - (counted ? row.calls : row.calls - refused)).toBeLessThanOrEqual(1n);
  expect(checks.find(({ name }) => name === 'ledger_matches_plan')).toMatchObject({ violations: 0n });
}

test.each([
  ['counts them', true],
  ["doesn't count them", false],
])("the ledger matches the plan's usage if the service refuses 15 calls with 429 and %s", async (_how, counted) => {
  const refusals = await openRefusing(429, 2, counted);
  refusals.left = 15;
  await expectMatchingLedger(15n, counted);
});

test.each([
  ['counts it', true],
  ["doesn't count it", false],
])("the ledger matches the plan's usage if the service ends an attempt with 401 and %s", async (_how, counted) => {
  const refusals = await openRefusing(401, 3, counted);
  refusals.left = 1;
  const error = await failure(world.sync());
  expect(error.code).toBe('unauthorized');
  await expectMatchingLedger(1n, counted);
});

test("a budget of calls includes refused calls, so that it isn't exceeded if they are counted", async () => {
  const refusals = await openRefusing(429, 2, true);
  refusals.left = 15;
  world.pipeline.budget.calls = { count: 10 };
  await expect(world.sync()).rejects.toMatchObject({ code: 'budget' });
  expect(world.requests).toHaveLength(10);
});

test('a run that has landed all data is published even if the key is refused, unless it is stopped', async () => {
  const refusals = await openRefusing(401, 0, false);
  const log: Io['log'] = (_level, event) => {
    if (event === 'staged') throw new Error('the process dies');
  };
  await expect(syncWithWings(world.pipeline, { ...testIo, log })).rejects.toThrow('the process dies');
  refusals.left = Number.POSITIVE_INFINITY;
  const stop = new AbortController();
  const { intercept } = world;
  world.intercept = () => {
    stop.abort();
    return new Promise(() => {}); // never
  };
  expect(await failure(syncWithWings(world.pipeline, testIo, stop.signal))).toMatchObject({ code: 'stopped' });
  world.intercept = intercept;
  const before = world.requests.length;
  expect(await world.sync()).toMatchObject({ published: true, resumed: true });
  expect(world.requests.slice(before)).toEqual(['/plan']);
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
});
