import { describe, expect, test } from 'vitest';
import { isClearlyFewer } from '../../src/plan/is-clearly-fewer.js';
import { judgeCopy, type ListedCounts } from '../../src/wings/listing/judge-copy.js';

test.each([
  [0n, 0n, 0n, false],
  [0n, 2n, 0n, false],
  [0n, 3n, 0n, true],
  [279n, 282n, 0n, true],
  [141n, 282n, 0n, true],
  [282n, 141n, 0n, false],
  [990_000n, 1_000_000n, 0n, false],
  [989_999n, 1_000_000n, 0n, true],
  [270n, 282n, 10n, false],
  [269n, 282n, 10n, true],
])('%s rows for %s items, of which %s may have moved: clearly fewer is %s', (came, counted, moved, fewer) => {
  expect(isClearlyFewer(came, counted, moved)).toBe(fewer);
});

const EQUAL: ListedCounts = { counted: 100n, listed: 100n, listedByDataset: 150n, moved: 0n };
const NONE = { missing: 0n, read: 0n, found: 0n };
const judge = (counts: Partial<ListedCounts>, reads: Partial<Parameters<typeof judgeCopy>[1]> = {}) =>
  judgeCopy({ ...EQUAL, ...counts }, { listed: NONE, removed: NONE, recent: 0n, ...reads });
const [WHOLE, NOTHING] = [
  { listed: true, removed: true },
  { listed: false, removed: false },
];

describe('a complete copy', () => {
  test("is complete if the counts agree, weren't requested, or count items once in each dataset", () => {
    for (const counts of [{}, { counted: undefined }, { counted: 150n }, { counted: 60n }]) {
      expect(judge(counts)).toEqual({ provesAbsence: WHOLE, unknown: 0n, reason: '' });
    }
  });

  test('proves no removal if it contains clearly fewer items than the service counts', () => {
    expect(judge({ listed: 0n, listedByDataset: 0n })).toEqual({
      provesAbsence: NOTHING,
      unknown: 100n,
      reason: 'the copy is incomplete: it lists 0 of 100 items that /facets counts',
    });
  });

  test('proves that missing items are gone if the service returns none of a sample of them', () => {
    const listed = { missing: 500n, read: 10n, found: 0n };
    expect(judge({}, { listed })).toEqual({ provesAbsence: WHOLE, unknown: 0n, reason: '' });
  });

  test('proves nothing about listed or removed items if the service still returns one of those that it lacks', () => {
    const some = { missing: 50n, read: 10n, found: 3n };
    const reason = 'the copy lacks 50 known items, but the service returns 3 of 10 that were read individually';
    expect(judge({}, { listed: some })).toEqual({
      provesAbsence: { listed: false, removed: true },
      unknown: 40n,
      reason,
    });
    expect(judge({}, { removed: some })).toEqual({
      provesAbsence: { listed: true, removed: false },
      unknown: 0n,
      reason,
    });
  });

  test('proves nothing about missing items if none of them could be read', () => {
    expect(judge({}, { listed: { missing: 4n, read: 0n, found: 0n } })).toEqual({
      provesAbsence: { listed: false, removed: true },
      unknown: 4n,
      reason: 'the copy lacks 4 known items, and none of them could be read individually',
    });
  });

  test('leaves unknown whether an item that is newer than the copy is still listed', () => {
    const reason = '2 items that first appeared within the last hour are missing from the copy';
    expect(judge({}, { recent: 2n })).toEqual({ provesAbsence: WHOLE, unknown: 2n, reason });
  });
});
