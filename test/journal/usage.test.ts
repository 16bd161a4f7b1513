import { describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../src/landing/journal-entry.js';
import { countBetween, foldBackfill } from '../../src/landing/usage.js';

const counted = (apiCalls: bigint, exportRows = 0n, resetsAt = '2026-12-01') => ({ apiCalls, exportRows, resetsAt });

describe('what the service counted', () => {
  test('includes the call for the first answer and leaves out none', () => {
    expect(countBetween(counted(10n, 5n), counted(14n, 9n))).toEqual({ calls: 5n, exportRows: 4n });
  });

  test('is not known across the end of a month, or where an answer lacks it', () => {
    expect(countBetween(counted(10n), counted(2n, 0n, '2027-01-01'))).toBeUndefined();
    expect(countBetween(null, counted(2n))).toBeUndefined();
  });
});

test('a backfill adds up its processes: by the service where it told both counts, else by our own count', () => {
  const item = (itemId: bigint, end: number, calls: number): JournalEntry => {
    return { type: 'backfill.item', itemId, rows: 2, end, calls };
  };
  const entries: JournalEntry[] = [
    { type: 'usage.before', counted: counted(10n), calls: 1 },
    item(1n, 100, 2),
    item(2n, 250, 3), // killed here
    { type: 'try', at: '2026-11-20T00:00:00Z' },
    { type: 'usage.before', counted: counted(20n), calls: 1 },
    item(3n, 300, 2),
    { type: 'usage.after', counted: counted(23n), calls: 3 },
    { type: 'backfill.done', calls: 3, left: 7 },
  ];
  expect(foldBackfill(entries)).toEqual({ rows: 6, bytes: 300, left: 7, made: 6, counted: 7n });
});

test('a backfill that has not ended has left nothing yet, and what is noted behind its end does not count', () => {
  expect(foldBackfill([])).toEqual({ rows: 0, bytes: 0, left: 0, made: 0, counted: 0n });
  expect(foldBackfill([{ type: 'usage.before', counted: null, calls: 1 }]).left).toBe(0);
  const done: JournalEntry = { type: 'backfill.done', calls: 3, left: 7 };
  const behind: JournalEntry = { type: 'calls', calls: 4 };
  expect(foldBackfill([{ type: 'usage.before', counted: null, calls: 1 }, done, behind])).toMatchObject({
    left: 7,
    made: 4,
    counted: 4n,
  });
});
