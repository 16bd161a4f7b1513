import { describe, expect, test } from 'vitest';
import { chooseHydration, type HydrationFacts } from '../../src/plan/plan-hydration.js';

const facts = (given: Partial<HydrationFacts>): HydrationFacts => ({
  needed: 10_000,
  pages: 40,
  rows: 20_000n,
  callsLeft: 1_000n,
  rowsLeft: 100_000n,
  ratePerSecond: 10,
  ...given,
});
const way = (given: Partial<HydrationFacts>) => chooseHydration(facts(given)).way;

describe('items that are needed are read', () => {
  test('by pages, where calls are less scarce than export rows', () => {
    expect(way({})).toBe('pages'); // 4 % of the calls, 20 % of the rows
  });

  test('by one export, where rows are less scarce than calls', () => {
    expect(way({ callsLeft: 100n, rowsLeft: 1_000_000n })).toBe('export'); // 40 % of the calls, 3 % together
  });

  test('one by one, where they are fewer than the pages', () => {
    expect(way({ needed: 3 })).toBe('items');
    expect(way({ pages: 0, needed: 3 })).toBe('items');
  });

  test('by no export that has more rows than are left, however scarce calls are', () => {
    expect(way({ callsLeft: 41n, rowsLeft: 19_999n })).toBe('pages');
    expect(way({ callsLeft: 41n, rowsLeft: 0n })).toBe('pages');
  });

  test('in the quickest way, where nothing is limited', () => {
    const unlimited = { callsLeft: null, rowsLeft: null };
    expect(way({ ...unlimited, ratePerSecond: 10 })).toBe('export'); // 4 s of pages, half a second of rows
    expect(way({ ...unlimited, ratePerSecond: null })).toBe('export');
    expect(way({ ...unlimited, ratePerSecond: null, pages: 4, rows: 400_000n })).toBe('pages');
  });

  test('by no export when the first page was the only one: all rows of an export have landed with it', () => {
    expect(chooseHydration(facts({ needed: 30, pages: 0, rows: 79n, callsLeft: 40n }))).toMatchObject({
      way: 'items',
      reason: '30 calls, since an export has no row that no page showed',
    });
  });

  test('by no export where there is a reason against it, however many calls that takes', () => {
    const withoutExport = 'the export that was taken lacks the rest';
    expect(chooseHydration(facts({ callsLeft: 41n, rowsLeft: 1_000_000n, withoutExport }))).toMatchObject({
      way: 'pages',
      reason: '40 calls, since the export that was taken lacks the rest',
    });
  });

  test('not at all, when none is needed', () => {
    expect(chooseHydration(facts({ needed: 0 }))).toMatchObject({ way: 'none', calls: 0 });
  });

  test('and the choice says why', () => {
    expect(chooseHydration(facts({})).reason).toBe(
      '40 calls instead of 1 calls and 20000 export rows; 1000 calls and 100000 export rows are left',
    );
    expect(chooseHydration(facts({ rowsLeft: 5n })).reason).toContain('an export is beyond the rows left');
  });
});
