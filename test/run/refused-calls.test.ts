import { afterEach, expect, test } from 'vitest';
import type { Io } from '../../src/io/io.js';
import { syncWithWings } from '../../src/wings/index.js';
import { failure } from '../failure.js';
import { openWorld, readItems, readTruth, refuse, testIo, type World } from './world.js';

let world: World;
afterEach(() => world.close());

/** Refuses the calls from one on, so many of them; `counted`: the service counts them like all others. */
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
  ['does not count them', false],
])('the ledger matches a service that refuses 15 calls with 429 and %s', async (_how, counted) => {
  const refusals = await openRefusing(429, 2, counted);
  refusals.left = 15;
  await expectMatchingLedger(15n, counted);
});

test.each([
  ['counts it', true],
  ['does not count it', false],
])('and one that ends a try with 401 and %s', async (_how, counted) => {
  const refusals = await openRefusing(401, 3, counted);
  refusals.left = 1;
  const error = await failure(world.sync());
  expect(error.code).toBe('unauthorized');
  await expectMatchingLedger(1n, counted);
});

test('a budget of calls holds for the refused ones as well: if they count, it is not passed', async () => {
  const refusals = await openRefusing(429, 2, true);
  refusals.left = 15;
  world.pipeline.budget.calls = { count: 10 };
  await expect(world.sync()).rejects.toMatchObject({ code: 'budget' });
  expect(world.requests).toHaveLength(10);
});

test('a run that has landed all it needs is published although the key is refused, unless it is stopped', async () => {
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
