import { describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../src/landing/journal-entry.js';
import { foldProgress, LANDED_KINDS, sumLanded } from '../../src/landing/run-progress.js';

const AT = '2026-11-20T06:00:00Z';
const begin: JournalEntry = { type: 'begin', runNumber: 1n, runId: 'r1', at: AT, pipeline: 'prices', cursorFrom: null };
const again: JournalEntry = { type: 'try', at: AT };
const called = (calls: number, refused?: number): JournalEntry => ({
  type: 'calls',
  calls,
  ...(refused === undefined ? {} : { refused }),
});
const exported = (attempt: number, announced: bigint, blocks = 0n): JournalEntry => {
  return { type: 'export.begin', shard: 'all', attempt, readAt: AT, announced, overage: blocks > 0n, blocks, calls: 1 };
};
const segment = (attempt: number, rows: number, bytes: number): JournalEntry => {
  return { type: 'export.segment', shard: 'all', attempt, file: `${attempt}.ndjson`, bytes, rows };
};
const ended = (
  type: 'export.done' | 'export.cut',
  attempt: number,
  announced: bigint,
  landed: bigint,
): JournalEntry => {
  const rows = { shard: 'all', attempt, announced, landed, calls: 2 };
  return type === 'export.done' ? { type, ...rows } : { type, ...rows, matching: '9' };
};
const feedPage = (rows: number, end: number): JournalEntry => {
  return { type: 'feed.page', after: 0n, nextCursor: 1n, hasMore: true, rows, end, calls: 3 };
};
const itemPage = (type: 'poll.page' | 'hydrate.page', file: string, rows: number, end: number): JournalEntry => {
  return { type, file, rows, end, readAt: AT, calls: 4 };
};
const changedExport = (announced: bigint): JournalEntry => {
  return { type: 'hydrate.export', announced, overage: false, blocks: 0n, calls: 5 };
};

describe('calls', () => {
  test('count from one for each process, and those of a backfill come on top', () => {
    const progress = foldProgress([begin, feedPage(1, 10), called(7, 2), again, feedPage(1, 20), again, called(1, 1)]);
    expect(progress).toMatchObject({ tries: 3, calls: 7 + 3 + 1, refused: 3 });
    const backfill: JournalEntry = { type: 'backfill', rows: 5, bytes: 50, made: 4 };
    expect(foldProgress([begin, backfill, called(2)]).calls).toBe(6);
  });

  test('are those of the last entry that counts them, whatever comes behind it', () => {
    const event: JournalEntry = { type: 'event', key: 'e', rows: 1, end: 9 };
    const item: JournalEntry = { type: 'backfill.item', itemId: 1n, rows: 1, end: 9 };
    expect(foldProgress([begin, called(7, 2), event, item, again])).toMatchObject({ calls: 7, refused: 2 });
    expect(foldProgress([begin, called(7, 2), feedPage(1, 10)])).toMatchObject({ calls: 3, refused: 2 });
    const undefinedCalls = { ...item, calls: undefined } as unknown as JournalEntry;
    expect(foldProgress([begin, called(7), undefinedCalls]).calls).toBe(7);
  });

  test('are none, of one try, before the journal has a line', () => {
    expect(foldProgress([])).toMatchObject({ tries: 1, calls: 0, refused: 0 });
  });
});

describe('landed rows', () => {
  test('are those of pages, events and histories, and bytes up to where each file ends', () => {
    const { landed } = foldProgress([
      begin,
      { type: 'event', key: 'e1', rows: 2, end: 20 },
      { type: 'event', key: 'e2', rows: 3, end: 50 },
      { type: 'backfill', rows: 4, bytes: 44 },
      feedPage(5, 55),
      feedPage(6, 66),
      itemPage('poll.page', 'a', 7, 70),
      itemPage('poll.page', 'b', 8, 80),
      itemPage('poll.page', 'b', 9, 90),
    ]);
    expect(landed).toMatchObject({
      events: { rows: 5n, bytes: 50 },
      histories: { rows: 4n, bytes: 44 },
      feed: { rows: 11n, bytes: 66 },
      polled: { rows: 24n, bytes: 160 },
      listed: { rows: 0n, bytes: 0 },
    });
    expect(sumLanded({ landed }, LANDED_KINDS)).toEqual({ rows: 44n, bytes: 320 });
  });

  test('of an export that broke off are lost: they are taken, on disk, and no part of the copy', () => {
    const broken = [begin, exported(1, 100n), segment(1, 40, 400)];
    expect(foldProgress(broken)).toMatchObject({
      landed: { exports: { rows: 0n, bytes: 0 } },
      exports: { begun: 1, taken: 100n, kept: 0n, lost: 100n, onDisk: 40n },
    });
    const whole = [...broken, again, exported(2, 101n), segment(2, 101, 1010), ended('export.done', 2, 101n, 101n)];
    expect(foldProgress(whole)).toMatchObject({
      landed: { exports: { rows: 101n, bytes: 1010 } },
      exports: { begun: 2, taken: 201n, kept: 101n, landed: 101n, lost: 100n },
    });
  });

  test('of listing states count by themselves', () => {
    const page = { ...itemPage('poll.page', 'l', 3, 30), type: 'listing.page' } as JournalEntry;
    expect(foldProgress([begin, page]).landed).toMatchObject({
      listed: { rows: 3n, bytes: 30 },
      polled: { rows: 0n, bytes: 0 },
    });
  });

  test('of an export that was cut are kept', () => {
    const cut = [begin, exported(1, 30n, 2n), segment(1, 30, 300), ended('export.cut', 1, 30n, 30n)];
    const { exports, landed } = foldProgress(cut);
    expect(landed.exports).toEqual({ rows: 30n, bytes: 300 });
    expect(foldProgress([...cut, exported(2, 5n)]).exports).toMatchObject({ overage: true, blocks: 2n });
    expect(exports).toMatchObject({ kept: 30n, landed: 30n, lost: 0n, overage: true, blocks: 2n });
  });

  test('of an export of changed items count as kept only if all that was announced arrived', () => {
    const pages = [itemPage('hydrate.page', 'hydrate-export-1-00001.ndjson', 9, 90), changedExport(5n)];
    const short = foldProgress([begin, changedExport(10n), ...pages]);
    expect(short.exports).toMatchObject({ begun: 2, taken: 15n, kept: 0n, lost: 15n });
    const whole = [itemPage('hydrate.page', 'hydrate-export-2-00001.ndjson', 5, 50)];
    const second = foldProgress([begin, changedExport(10n), ...pages, ...whole]);
    expect(second.exports).toMatchObject({ kept: 5n, landed: 5n, lost: 10n });
    expect(second.landed.hydrated).toEqual({ rows: 14n, bytes: 140 });
  });
});
