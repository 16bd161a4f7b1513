import { describe, expect, test } from 'vitest';
import { countBetween } from '../../src/journal/calls.js';
import {
  BACKFILL_FOLD,
  type BackfillEntry,
  countCalls,
  listItems,
} from '../../src/wings/histories/backfill-journal.js';

const counted = (apiCalls: bigint, exportRows = 0n, resetsAt = '2026-12-01') => ({ apiCalls, exportRows, resetsAt });

describe('the calls counted by the service', () => {
  test('include the call for the first answer, and no call is missing', () => {
    expect(countBetween(counted(10n, 5n), counted(14n, 9n))).toEqual({ calls: 5n, exportRows: 4n });
  });

  test('are unknown if a month ended in between, or if an answer has no count', () => {
    expect(countBetween(counted(10n), counted(2n, 0n, '2027-01-01'))).toBeUndefined();
    expect(countBetween(null, counted(2n))).toBeUndefined();
  });
});

const fold = (entries: readonly BackfillEntry[]) => entries.reduce(BACKFILL_FOLD.step, BACKFILL_FOLD.start);
const item = (itemId: bigint, end: number, calls: number): BackfillEntry => {
  return { type: 'backfill.item', itemId, rows: 2, end, calls, sha256: 'a' };
};

test("a backfill adds up its processes, by the service's counts if both are known, otherwise by its own", () => {
  const backfill = fold([
    { type: 'usage.before', counted: counted(10n), calls: 1 },
    item(1n, 100, 2),
    item(2n, 250, 3), // killed here
    { type: 'try', at: '2026-11-20T00:00:00Z' },
    { type: 'usage.before', counted: counted(20n), calls: 1 },
    item(3n, 300, 2),
    { type: 'usage.after', counted: counted(23n), calls: 3 },
    { type: 'backfill.done', calls: 3, left: 7 },
  ]);
  expect(backfill).toMatchObject({ rows: 6, bytes: 300, left: 7, calls: { made: 6 }, isDone: true });
  expect([countCalls(backfill), listItems(backfill)]).toEqual([7n, [1n, 2n, 3n]]);
});

test("a backfill that hasn't ended has no remaining items yet", () => {
  expect([fold([]), countCalls(fold([]))]).toMatchObject([{ isBegun: false, rows: 0, left: 0 }, 0n]);
  const begun = fold([{ type: 'usage.before', counted: null, calls: 1 }]);
  expect([begun, countCalls(begun)]).toMatchObject([{ isBegun: true, isDone: false, left: 0 }, 1n]);
});

test('a backfill that continues after its end is open again, and keeps the previous number of remaining items', () => {
  const done: BackfillEntry = { type: 'backfill.done', calls: 3, left: 7 };
  const again = fold([item(1n, 10, 2), done, { type: 'try', at: '2026-11-20T00:00:00Z' }]);
  expect(again).toMatchObject({ isDone: false, wasDone: true, left: 7 });
});
