import { expect, test } from 'vitest';
import { findListing, findListingPlan, LISTING } from '../../src/journal/listing.js';
import type { RunEntry } from '../../src/journal/run-entry.js';

const dataset = 5n;
const counts: RunEntry = { type: 'listing.counts', dataset, answer: '{}', returnsRemovals: true, calls: 1 };
const plan: RunEntry = {
  type: 'listing.plan',
  dataset,
  news: false,
  readings: [],
  limit: null,
  wanted: 3n,
  calls: 1,
};
const page = (file: string, of: bigint | undefined = dataset): RunEntry => ({
  type: 'listing.page',
  dataset: of,
  file,
  rows: 1,
  end: 1,
  readAt: '2026-11-20T12:00:00.000Z',
  calls: 1,
  sha256: 'a',
});
const read = (...files: string[]): RunEntry => ({ type: 'listing.read', dataset, files, total: 1n, calls: 1 });
const acted: RunEntry = { type: 'listing.acted', dataset, calls: 1 };

const fold = (...entries: RunEntry[]) =>
  entries.reduce((listing, entry) => LISTING.step(listing, entry), LISTING.start);
const open = (...entries: RunEntry[]) => findListing(fold(...entries), dataset);

test('a step counts as done only if it was done after the last counts', () => {
  expect(open().step).toBe('counted');
  expect(open(counts, plan).step).toBe('planned');
  expect(open(counts, plan, page('a'), read('a'), acted).step).toBe('acted');
  expect(open(counts, plan, acted, counts)).toMatchObject({ step: 'counted', timesCounted: 2 });
});

test('a plan is valid until newer counts arrive', () => {
  expect(findListingPlan(open())).toBeUndefined();
  expect(findListingPlan(open(counts))).toBeUndefined();
  expect(findListingPlan(open(counts, plan))).toMatchObject({ wanted: 3n, news: false });
  expect(findListingPlan(open(counts, plan, page('a'), read('a'), acted))).toMatchObject({ wanted: 3n });
  expect(findListingPlan(open(counts, plan, counts))).toBeUndefined();
});

test('readings and files belong to the plan that precedes them', () => {
  const { plans } = open(
    ...[counts, plan, page('a'), read('a'), page('b'), read('b'), plan, page('c'), page('c'), read('c')],
  );
  expect(plans.map(({ ended }) => ended.map(({ files }) => files))).toEqual([[['a'], ['b']], [['c']]]);
  expect(plans.map(({ files }) => files)).toEqual([['a', 'b', 'c'], ['c']]);
});

test('the open reading contains the pages after the last plan or the last reading that ended', () => {
  expect(open(counts, plan).open).toEqual({ files: [], pages: 0 });
  expect(open(page('x'), plan, page('a'), page('a'), page('b')).open).toEqual({ files: ['a', 'b'], pages: 3 });
  expect(open(plan, page('a'), read('a'), page('b')).open).toEqual({ files: ['b'], pages: 1 });
});

test("a plan's news counts as polled once the plan's poll round has begun", () => {
  const round: RunEntry = { type: 'poll.round', since: null, newest: null, dataset };
  expect(findListingPlan(open(round, counts, plan))?.isPolled).toBe(false);
  expect(findListingPlan(open(counts, plan, { ...round, dataset: 6n }))?.isPolled).toBe(false);
  expect(findListingPlan(open(counts, plan, round))?.isPolled).toBe(true);
});

test('each dataset has its own progress, and gone items apply to all datasets', () => {
  const gone: RunEntry = { type: 'listing.gone', itemId: 1n, calls: 1 };
  const listing = fold(plan, page('a'), { ...acted, dataset: undefined }, page('x', 6n), gone);
  expect(findListing(listing, dataset)).toMatchObject({ step: 'planned', open: { files: ['a'], pages: 1 } });
  expect(findListing(listing, 6n)).toMatchObject({ plans: [], open: { files: ['x'], pages: 1 } });
  expect(listing).toMatchObject({ gone: [1n], done: undefined });
});
