import { describe, expect, test } from 'vitest';
import { type Ahead, countPages, estimateSteps, extrapolateChanges, sumSteps } from '../../src/plan/estimate.js';
import { isCountWorthIt } from '../../src/source/account.js';

const exact = (count: bigint) => ({ count, exact: true, calls: countPages(count) });

/** A run with a proof, or without. */
function countCalls(ahead: Partial<Ahead>, proof: boolean): number {
  const steps = estimateSteps({
    plan: true,
    publishes: true,
    datasets: 1,
    facets: proof && ahead.exports !== undefined ? 1 : 0,
    products: proof ? 1 : 0,
    sample: proof ? 10 : 0,
    countsUsage: (calls, rows) => isCountWorthIt(calls, rows > 0n),
    ...ahead,
  });
  return sumSteps(steps).calls;
}

const whole = (calls: number) => ({ calls, rows: 0n, exact: true, reason: '' });

describe('the calls of a run are at most 5 % above the least', () => {
  test.each<[string, Partial<Ahead>, number, number, number]>([
    [
      'first copy of 1M items with 3M changes',
      { lowWatermark: 2, exports: { calls: 1, rows: 1_000_000n }, changes: exact(3_000_000n) },
      3_005,
      3_006,
      3_018,
    ],
    ['300k changes, 200k changed items', { changes: exact(300_000n), hydration: whole(400) }, 702, 703, 714],
    ['20k changes, 20k changed items', { changes: exact(20_000n), hydration: whole(40) }, 62, 63, 74],
  ])('%s', (_, ahead, least, without, withProof) => {
    expect([countCalls(ahead, false), countCalls(ahead, true)]).toEqual([without, withProof]);
    expect(without / least).toBeLessThan(1.05);
  });
});

describe('changes that wait behind a page', () => {
  test('are estimated by how far apart the ids of the page lie', () => {
    const page = { first: 1_000n, last: 10_990n, rows: 1_000n };
    expect(extrapolateChanges(page, 10_990n)).toBe(1_000n);
    expect(extrapolateChanges(page, 20_980n)).toBe(1_999n);
    expect(extrapolateChanges({ ...page, rows: 1n }, 99_999n)).toBe(1n);
  });
});
