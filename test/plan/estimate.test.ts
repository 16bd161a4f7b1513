import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { packagePath } from '../../src/io/package-path.js';
import { countPages } from '../../src/plan/count-pages.js';
import {
  type Ahead,
  countBenchSeconds,
  estimateSteps,
  extrapolateChanges,
  sumSteps,
} from '../../src/run/estimate/estimate.js';
import { isCountWorthIt } from '../../src/run/open/account.js';

const exact = (count: bigint) => ({ count, exact: true, calls: countPages(count) });

/** Counts the calls of a run, with or without the proof. */
function countCalls(ahead: Partial<Ahead>, proof: boolean): number {
  const steps = estimateSteps({
    plan: true,
    publishes: true,
    datasets: 1,
    facets: proof && ahead.exports !== undefined ? 1 : 0,
    witnesses: proof ? [{ step: 'sample', calls: 11, basis: '' }] : [],
    countsUsage: (calls, rows) => isCountWorthIt(calls, rows > 0n),
    ...ahead,
  });
  return sumSteps(steps).calls;
}

const whole = (calls: number) => ({ calls, rows: 0n, exact: true, reason: '' });

describe('a run needs at most 5 % more calls than the minimum', () => {
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

describe('the changes after a page', () => {
  test('are estimated from the distance between the ids on the page', () => {
    const page = { first: 1_000n, last: 10_990n, rows: 1_000n };
    expect(extrapolateChanges(page, 10_990n)).toBe(1_000n);
    expect(extrapolateChanges(page, 20_980n)).toBe(1_999n);
    expect(extrapolateChanges({ ...page, rows: 1n }, 99_999n)).toBe(1n);
  });
});

describe('the time of a first copy', () => {
  const page = readFileSync(packagePath('bench/README.md'), 'utf8').split("## Where a small run's")[0] ?? '';
  // Only the cells of the table with three pairs have ranges in brackets.
  const figures = [...page.matchAll(/^\| first copy of (\d+)(k|M)[^|]*\|[^|]+\|[^|]+\| ([\d.]+) \(/gmu)].map(
    ([, count, unit, seconds]) => [Number(count) * (unit === 'k' ? 1e3 : 1e6), Number(seconds)] as const,
  );

  test('was measured for several sizes', () => expect(figures.length).toBeGreaterThanOrEqual(4));

  test.each(figures)('of %i items is within a sixth of the benchmark, %f s', (rows, seconds) => {
    const ratio = countBenchSeconds(BigInt(rows)) / seconds;
    expect(Math.abs(ratio - 1)).toBeLessThan(1 / 6);
  });
});
