import { expect, test } from 'vitest';
import { ListingJournal } from '../../src/extract/listing-journal.js';
import type { JournalEntry } from '../../src/landing/journal-entry.js';
import type { Landing } from '../../src/landing/landing.js';

const dataset = 5n;
const counts: JournalEntry = { type: 'listing.counts', dataset, answer: '{}', returnsRemovals: true, calls: 1 };
const plan: JournalEntry = {
  type: 'listing.plan',
  dataset,
  news: false,
  readings: [],
  limit: null,
  wanted: 3n,
  calls: 1,
};
const page = (file: string, of: bigint | undefined = dataset): JournalEntry => ({
  type: 'listing.page',
  dataset: of,
  file,
  rows: 1,
  end: 1,
  readAt: '2026-11-20T12:00:00.000Z',
  calls: 1,
});
const read = (...files: string[]): JournalEntry => ({ type: 'listing.read', dataset, files, total: 1n, calls: 1 });
const acted: JournalEntry = { type: 'listing.acted', dataset, calls: 1 };

const open = (...entries: JournalEntry[]) =>
  new ListingJournal({ journal: { entries } } as unknown as Landing, dataset);

test('what was planned is done only when it was by the last counts', () => {
  expect(open().hasActed()).toBe(false);
  expect(open(counts, plan).hasActed()).toBe(false);
  expect(open(counts, acted).hasActed()).toBe(true);
  expect(open(counts, acted, plan, page('a'), read('a')).hasActed()).toBe(true);
  expect(open(counts, acted, counts).hasActed()).toBe(false);
});

test('a plan holds until there are newer counts', () => {
  expect(open().findPlan()).toBeUndefined();
  expect(open(counts).findPlan()).toBeUndefined();
  expect(open(counts, plan).findPlan()).toBe(plan);
  expect(open(counts, plan, page('a'), read('a'), acted).findPlan()).toBe(plan);
  expect(open(counts, plan, counts).findPlan()).toBeUndefined();
});

test('readings and files belong to the plan that they came after', () => {
  const [first, second] = [{ ...plan }, { ...plan }];
  const [a, b, c] = [read('a'), read('b'), read('c')];
  const journal = open(counts, first, page('a'), a, page('b'), b, second, page('c'), c);
  expect(journal.listEnded(first)).toEqual([a, b]);
  expect(journal.listEnded(second)).toEqual([c]);
  expect(open(first, second, a).listEnded(first)).toEqual([]);
  expect(journal.listFiles(first)).toEqual(['a', 'b', 'c']);
  expect(journal.listFiles(second)).toEqual(['c']);
});

test('the reading under way is what came behind the last plan, or the last reading that ended', () => {
  expect(open(counts, plan).listOpenPages()).toEqual({ files: [], pages: 0 });
  expect(open(page('x'), plan, page('a'), page('a'), page('b')).listOpenPages()).toEqual({
    files: ['a', 'b'],
    pages: 3,
  });
  expect(open(plan, page('a'), read('a'), page('b')).listOpenPages()).toEqual({ files: ['b'], pages: 1 });
});

test('of other datasets, and of other steps, it knows nothing', () => {
  const other: JournalEntry = { ...plan, dataset: 6n };
  const gone: JournalEntry = { type: 'listing.gone', itemId: 1n, calls: 1 };
  const journal = open(plan, page('a'), other, { ...acted, dataset: undefined }, page('x', 6n), gone, counts);
  expect(journal.all('listing.page')).toEqual([page('a')]);
  expect(journal.last('listing.plan')).toBe(plan);
  expect(journal.last('listing.read')).toBeUndefined();
  expect(journal.hasActed()).toBe(false);
  expect(journal.listOpenPages()).toEqual({ files: ['a'], pages: 1 });
});
