import { describe, expect, test } from 'vitest';
import { NO_EXPORTS } from '../../src/plan/allowance.js';
import { type ChangedItems, planHydration } from '../../src/plan/plan-hydration.js';

interface Given extends Partial<ChangedItems> {
  callsLeft?: bigint | null;
  rowsLeft?: bigint | null;
  ratePerSecond?: number | null;
  isTaken?: boolean;
}

function choose({ callsLeft = 1_000n, rowsLeft = 100_000n, ratePerSecond = 10, isTaken, ...changed }: Given) {
  const bound = (left: bigint | null) =>
    left === null ? undefined : { rule: 'x', allowed: left, used: 0n, monthly: true };
  const allowance = { ...NO_EXPORTS, calls: bound(callsLeft), rows: bound(rowsLeft) };
  const means = { allowance, callsMade: 0n, ratePerSecond, broken: undefined, ...(isTaken ? { isTaken } : {}) };
  return planHydration({ needed: 10_000, pages: 40, rows: 20_000n, ...changed }, means).choice;
}
const way = (given: Given) => choose(given).way;

describe('changed items are read', () => {
  test('page by page, if calls are less scarce than export rows', () => {
    expect(way({})).toBe('pages'); // 4 % of the calls, 20 % of the rows
  });

  test('with one export, if export rows are less scarce than calls', () => {
    expect(way({ callsLeft: 100n, rowsLeft: 1_000_000n })).toBe('export'); // 40 % of the calls, 3 % together
  });

  test('one by one, if they are fewer than the pages', () => {
    expect(way({ needed: 3 })).toBe('items');
    expect(way({ pages: 0, needed: 3 })).toBe('items');
  });

  test('never with an export that has more rows than are left, even if calls are scarce', () => {
    expect(way({ callsLeft: 41n, rowsLeft: 19_999n })).toBe('pages');
    expect(way({ callsLeft: 41n, rowsLeft: 0n })).toBe('pages');
  });

  test('in the fastest way, if nothing is limited', () => {
    const unlimited = { callsLeft: null, rowsLeft: null };
    expect(way({ ...unlimited, ratePerSecond: 10 })).toBe('export'); // 4 s of pages, half a second of rows
    expect(way({ ...unlimited, ratePerSecond: null })).toBe('export');
    expect(way({ ...unlimited, ratePerSecond: null, pages: 4, rows: 400_000n })).toBe('pages');
  });

  test('without an export if the first page was the only one, because it has shown all rows', () => {
    expect(choose({ needed: 30, pages: 0, rows: 79n, callsLeft: 40n })).toMatchObject({
      way: 'items',
      reason: '30 calls, because an export would contain only rows that the pages have shown',
    });
  });

  test('without an export if there is a reason against it, even if that takes many calls', () => {
    expect(choose({ callsLeft: 41n, rowsLeft: 1_000_000n, isTaken: true })).toMatchObject({
      way: 'pages',
      reason: '40 calls, because the export that was downloaded lacks the remaining items',
    });
  });

  test('with no call if no item is needed', () => {
    expect(choose({ needed: 0 })).toMatchObject({ way: 'none', calls: 0 });
  });

  test('in a way that the choice explains', () => {
    expect(choose({}).reason).toBe(
      '40 calls instead of 1 call and 20,000 export rows; left: 1,000 calls and 100,000 export rows',
    );
    expect(choose({ rowsLeft: 5n }).reason).toContain('because an export needs more rows than are left');
  });
});
