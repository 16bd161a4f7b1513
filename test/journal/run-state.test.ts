import { describe, expect, test } from 'vitest';
import { countKept } from '../../src/journal/exports.js';
import type { RunEntry } from '../../src/journal/run-entry.js';
import {
  countLanded,
  isPublishable,
  type Publishable,
  RUN_FOLD,
  type RunAt,
  sumLanded,
} from '../../src/journal/run-state.js';
import { readDatasets } from '../../src/source/datasets.js';
import { foldRun } from './list-fold.js';

const AT = '2026-11-20T06:00:00Z';
const begin: RunEntry = { type: 'begin', runNumber: 1n, runId: 'r1', at: AT, pipeline: 'prices', cursorFrom: null };
const again: RunEntry = { type: 'try', at: AT };
const called = (calls: number, refused = 0): RunEntry => ({ type: 'calls', calls, refused });
/** Entries that allow complete rows to be read. */
const landed: RunEntry[] = [
  { type: 'feed.done', cursor: 0n, complete: true, at: AT, calls: 0 },
  { type: 'datasets', readAt: AT, answer: '[]', calls: 0 },
];
const exported = (attempt: number, announced: bigint, blocks = 0n): RunEntry => {
  return { type: 'export.begin', shard: 'all', attempt, readAt: AT, announced, overage: blocks > 0n, blocks, calls: 1 };
};
const segment = (attempt: number, rows: number, bytes: number): RunEntry => {
  return { type: 'export.segment', shard: 'all', attempt, file: `${attempt}.ndjson`, bytes, rows, fileSha256: 'a' };
};
const ended = (type: 'export.done' | 'export.cut', attempt: number, announced: bigint, landed: bigint): RunEntry => {
  const rows = { shard: 'all', attempt, announced, landed, calls: 2 };
  return type === 'export.done' ? { type, ...rows } : { type, ...rows, matching: '9' };
};
const feedPage = (rows: number, end: number): RunEntry => {
  return { type: 'feed.page', after: 0n, nextCursor: 1n, hasMore: true, rows, end, calls: 3, sha256: 'a' };
};
const itemPage = (type: 'poll.page' | 'hydrate.page', file: string, rows: number, end: number): RunEntry => {
  return { type, file, rows, end, readAt: AT, calls: 4, sha256: 'a' };
};
const changedExport = (announced: bigint): RunEntry => {
  return { type: 'hydrate.export', announced, overage: false, blocks: 0n, calls: 5 };
};

const brought = (source: string, key: string, rows: number, end: number): RunEntry => {
  return { type: 'source.rows', source, origin: 'history', file: `${source}.ndjson`, key, rows, end, sha256: 'a' };
};
const spent: RunEntry = { type: 'source.done', source: 'histories', spent: { made: 4, counted: 5n } };

describe('the counted calls', () => {
  test('start at one in each process, and calls of a source are added', () => {
    const { calls } = foldRun([begin, feedPage(1, 10), called(7, 2), again, feedPage(1, 20), again, called(1, 1)]);
    expect(calls).toMatchObject({ tries: 3, made: 7 + 3 + 1, refused: 3 });
    expect(foldRun([begin, brought('histories', 'h', 4, 44), spent, called(2)]).calls.made).toBe(6);
  });

  test('are those of the last entry that contains a count, regardless of later entries', () => {
    expect(foldRun([begin, called(7, 2), brought('webhook', 'e', 1, 9), again]).calls).toMatchObject({
      made: 7,
      refused: 2,
    });
    expect(foldRun([begin, called(7, 2), feedPage(1, 10)]).calls).toMatchObject({ made: 3, refused: 2 });
  });

  test('are zero in one attempt before the journal has a line', () => {
    expect(RUN_FOLD.start).toMatchObject({ stage: 'none', calls: { tries: 1, made: 0, refused: 0 } });
  });
});

describe('landed rows', () => {
  test('include pages and sources, and their bytes end where each file ends', () => {
    const run = foldRun([
      begin,
      brought('webhook', 'e1', 2, 20),
      brought('webhook', 'e2', 3, 50),
      brought('histories', 'h', 4, 44),
      feedPage(5, 55),
      feedPage(6, 66),
      itemPage('poll.page', 'a', 7, 70),
      itemPage('poll.page', 'b', 8, 80),
      itemPage('poll.page', 'b', 9, 90),
    ]);
    expect(countLanded(run)).toMatchObject({
      sources: { rows: 9n, bytes: 94 },
      feed: { rows: 11n, bytes: 66 },
      polled: { rows: 24n, bytes: 160 },
      listed: { rows: 0n, bytes: 0 },
    });
    expect(sumLanded(run)).toEqual({ rows: 44n, bytes: 320 });
  });

  test('of an interrupted export are paid for and on disk, but not part of the copy', () => {
    const broken = [begin, exported(1, 100n), segment(1, 40, 400)];
    const run = foldRun(broken);
    expect(countLanded(run).exports).toEqual({ rows: 0n, bytes: 0 });
    expect(run.exports).toMatchObject({ begun: 1, taken: 100n, onDisk: 40n });
    expect(countKept(run.exports)).toEqual({ kept: 0n, landed: 0n, lost: 100n });
    const whole = foldRun([
      ...broken,
      again,
      exported(2, 101n),
      segment(2, 101, 1010),
      ended('export.done', 2, 101n, 101n),
    ]);
    expect(countLanded(whole).exports).toEqual({ rows: 101n, bytes: 1010 });
    expect(whole.exports).toMatchObject({ begun: 2, taken: 201n });
    expect(countKept(whole.exports)).toEqual({ kept: 101n, landed: 101n, lost: 100n });
  });

  test('with listing states are counted separately', () => {
    const page = { ...itemPage('poll.page', 'l', 3, 30), type: 'listing.page' } as RunEntry;
    expect(countLanded(foldRun([begin, ...landed, page]))).toMatchObject({
      listed: { rows: 3n, bytes: 30 },
      polled: { rows: 0n, bytes: 0 },
    });
  });

  test('of a truncated export are kept', () => {
    const cut = [begin, exported(1, 30n, 2n), segment(1, 30, 300), ended('export.cut', 1, 30n, 30n)];
    const run = foldRun(cut);
    expect(countLanded(run).exports).toEqual({ rows: 30n, bytes: 300 });
    expect(foldRun([...cut, exported(2, 5n)]).exports).toMatchObject({ overage: true, blocks: 2n });
    expect(countKept(run.exports)).toEqual({ kept: 30n, landed: 30n, lost: 0n });
  });

  test('of an export of changed items count as kept only if all announced rows arrived', () => {
    const pages = [itemPage('hydrate.page', 'hydrate-export-1-00001.ndjson', 9, 90), changedExport(5n)];
    const short = foldRun([begin, ...landed, changedExport(10n), ...pages]);
    expect(short.exports).toMatchObject({ begun: 2, taken: 15n });
    expect(countKept(short.exports)).toEqual({ kept: 0n, landed: 0n, lost: 15n });
    const whole = itemPage('hydrate.page', 'hydrate-export-2-00001.ndjson', 5, 50);
    const second = foldRun([begin, ...landed, changedExport(10n), ...pages, whole]);
    expect(countKept(second.exports)).toEqual({ kept: 5n, landed: 5n, lost: 10n });
    expect(countLanded(second).hydrated).toEqual({ rows: 14n, bytes: 140 });
  });
});

describe('a decision', () => {
  const decision: RunEntry = { type: 'decision', mode: 'poll', reason: 'x', calls: 1 };

  test('belongs to the attempt that made it, and applies to later attempts', () => {
    expect(foldRun([begin, decision]).decision).toEqual({ mode: 'poll', reason: 'x', isOfThisTry: true });
    expect(foldRun([begin, decision, again]).decision).toEqual({ mode: 'poll', reason: 'x', isOfThisTry: false });
  });

  test('can use the time at which the previous attempt began', () => {
    const later: RunEntry = { type: 'try', at: '2026-11-21T06:00:00Z' };
    expect(foldRun([begin]).triedAt).toEqual({ last: AT, before: undefined });
    expect(foldRun([begin, later]).triedAt).toEqual({ last: later.at, before: AT });
  });
});

describe('the feed', () => {
  const page = (dataset: bigint, after: bigint, nextCursor: bigint, hasMore = true): RunEntry => {
    return { type: 'feed.page', dataset, after, nextCursor, hasMore, rows: 1, end: 1, calls: 1, sha256: 'a' };
  };
  const bound: RunEntry = { type: 'feed.bound', newest: 90n, at: AT, calls: 1 };

  test('of several datasets is read to its end once after each check of its newest change', () => {
    const part: RunEntry = { type: 'feed.part', dataset: 1n, cursor: 20n, calls: 1 };
    const read = [begin, bound, page(1n, 0n, 10n), page(1n, 10n, 20n, false), part, page(2n, 0n, 5n)];
    const { feed } = foldRun(read);
    expect(feed.bound?.isOfThisTry).toBe(true);
    expect(feed.parts.get(1n)).toEqual({ nextCursor: 20n, hasMore: false, rows: 1, isSinceBound: true, end: 20n });
    expect(feed.parts.get(2n)).toEqual({ nextCursor: 5n, hasMore: true, rows: 1, isSinceBound: true, end: undefined });
    expect(foldRun([...read, again]).feed.bound?.isOfThisTry).toBe(false);
    const next = foldRun([...read, again, bound]).feed;
    expect(next.parts.get(1n)).toEqual({
      nextCursor: 20n,
      hasMore: false,
      rows: 1,
      isSinceBound: false,
      end: undefined,
    });
  });

  test('records where reading began, and where it began again', () => {
    expect(foldRun([begin, page(1n, 7n, 10n), page(1n, 10n, 20n), page(1n, 0n, 3n)]).feed.starts).toEqual([7n, 0n]);
  });
});

test("a state contains only what its stage guarantees, so that other access doesn't compile", () => {
  const asked = foldRun([begin, feedPage(1, 10)]) as RunAt<'asked'>;
  // @ts-expect-error The datasets have not landed.
  expect(() => readDatasets(asked)).toThrow();
  const complete = foldRun([begin, ...landed, { type: 'hydrate.done', calls: 1 }]) as RunAt<'complete'>;
  expect(readDatasets(complete)).toMatchObject({ datasets: [], readAt: AT, run: complete });
  // @ts-expect-error The row counts have not been recorded.
  const settled: Publishable = complete;
  expect(isPublishable(settled)).toBe(false);
});
