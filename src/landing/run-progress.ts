import type { JournalEntry } from './journal-entry.js';

/** What a run has done so far, by its journal. */
export interface RunProgress {
  /** Processes that have worked on it. */
  tries: number;
  /** Calls of all of them, and of backfills that it took over. */
  calls: number;
  /** Of these, the ones that are known to have brought no 200: a process that was killed leaves none. */
  refused: number;
  landed: Record<LandedKind, Landed>;
  exports: ExportProgress;
}

/** Rows by what brought them. */
export const LANDED_KINDS = ['exports', 'feed', 'events', 'histories', 'polled', 'listed', 'hydrated'] as const;
export type LandedKind = (typeof LANDED_KINDS)[number];

/** Of exports, the whole ones and those that the service cut; a lost one doesn't count. */
export interface Landed {
  rows: bigint;
  bytes: number;
}

/** What the run's exports took, a complete copy's and those of changed items. */
export interface ExportProgress {
  begun: number;
  /** Rows that the service announced, and counts, whatever came of them. */
  taken: bigint;
  /** Of these, rows of exports that arrived whole, or were cut and are kept. */
  kept: bigint;
  /** Rows of the latter that arrived. */
  landed: bigint;
  lost: bigint;
  /** Rows on disk, including those of exports under way. */
  onDisk: bigint;
  overage: boolean;
  /** Blocks of overage that they billed at most. */
  blocks: bigint;
}

/**
 * Folds a journal. What its entries add up to is counted here alone; where one step continues, its own reader tells
 * (PollJournal, ListingJournal).
 */
export function foldProgress(entries: readonly JournalEntry[]): RunProgress {
  return {
    ...countCalls(entries),
    landed: {
      exports: foldCopies(entries),
      feed: sumPages(entries, 'feed.page'),
      events: sumPages(entries, 'event'),
      histories: foldHistories(entries),
      polled: sumPages(entries, 'poll.page'),
      listed: sumPages(entries, 'listing.page'),
      hydrated: sumPages(entries, 'hydrate.page'),
    },
    exports: foldExports(entries),
  };
}

/** Entries of landed pages: their rows count, and a file ends where its last entry says. */
export type PageType = Extract<JournalEntry, { rows: number; end: number }>['type'];

/** Rows and bytes of the pages that entries of a type name. */
export function sumPages(entries: readonly JournalEntry[], type: PageType): Landed {
  let rows = 0n;
  const ends = new Map<string, number>();
  for (const entry of entries) {
    if (entry.type !== type || !('end' in entry)) continue;
    rows += BigInt(entry.rows);
    ends.set('file' in entry ? entry.file : '', entry.end);
  }
  return { rows, bytes: [...ends.values()].reduce((sum, end) => sum + end, 0) };
}

function foldHistories(entries: readonly JournalEntry[]): Landed {
  const taken = entries.findLast((entry) => entry.type === 'backfill');
  return { rows: BigInt(taken?.rows ?? 0), bytes: taken?.bytes ?? 0 };
}

/** `calls` counts within a process, so the last entry of each process says how many it made. */
export function countCalls(entries: readonly JournalEntry[]): Pick<RunProgress, 'calls' | 'refused' | 'tries'> {
  let taken = 0;
  let last = { calls: 0, refused: 0 };
  const tries = [last];
  for (const entry of entries) {
    if (entry.type === 'try') {
      last = { calls: 0, refused: 0 };
      tries.push(last);
    } else if (entry.type === 'backfill') taken += entry.made ?? 0;
    else if ('calls' in entry && entry.calls !== undefined) last.calls = entry.calls;
    if (entry.type === 'calls') last.refused = entry.refused ?? 0;
  }
  const sum = (name: 'calls' | 'refused') => tries.reduce((total, one) => total + one[name], 0);
  return { tries: tries.length, calls: sum('calls') + taken, refused: sum('refused') };
}

/** The exports of a complete copy that arrived whole, or were cut. */
function foldCopies(entries: readonly JournalEntry[]): Landed {
  const place = ({ shard, attempt }: { shard: string; attempt: number }) => `${shard} ${attempt}`;
  const ended = entries.filter((entry) => entry.type === 'export.done' || entry.type === 'export.cut');
  const places = new Set(ended.map(place));
  const segments = entries.filter((entry) => entry.type === 'export.segment' && places.has(place(entry)));
  return {
    rows: sumRows(ended.map(({ landed }) => landed)),
    bytes: segments.reduce((sum, entry) => sum + (entry.type === 'export.segment' ? entry.bytes : 0), 0),
  };
}

function foldExports(entries: readonly JournalEntry[]): ExportProgress {
  const begun = entries.filter((entry) => entry.type === 'export.begin' || entry.type === 'hydrate.export');
  const ended = entries.filter((entry) => entry.type === 'export.done' || entry.type === 'export.cut');
  const segments = entries.filter((entry) => entry.type === 'export.segment');
  const hydrated = countHydrationExports(entries);
  const taken = sumRows(begun.map(({ announced }) => announced));
  const kept = sumRows(ended.map(({ announced }) => announced)) + hydrated;
  return {
    begun: begun.length,
    taken,
    kept,
    landed: sumRows(ended.map(({ landed }) => landed)) + hydrated,
    lost: taken - kept,
    onDisk: sumRows(segments.map(({ rows }) => BigInt(rows))),
    overage: begun.some(({ overage }) => overage),
    blocks: sumRows(begun.map(({ blocks }) => blocks)),
  };
}

export const HYDRATION_EXPORT = 'hydrate-export-';

/** Beginning of the names of the files of a run's export of changed items, by its number from 1. */
export const nameHydrationExport = (number: number): string => `${HYDRATION_EXPORT}${number}-`;

/** Rows of the exports of changed items that arrived as they were announced: all or nothing counts. */
function countHydrationExports(entries: readonly JournalEntry[]): bigint {
  const pages = entries.filter((entry) => entry.type === 'hydrate.page');
  const exports = entries.filter((entry) => entry.type === 'hydrate.export');
  const whole = exports.filter(({ announced }, index) => {
    const own = pages.filter(({ file }) => file.startsWith(nameHydrationExport(index + 1)));
    return sumRows(own.map(({ rows }) => BigInt(rows))) === announced;
  });
  return sumRows(whole.map(({ announced }) => announced));
}

function sumRows(rows: readonly bigint[]): bigint {
  return rows.reduce((sum, one) => sum + one, 0n);
}

/** Rows and bytes of some kinds together. */
export function sumLanded({ landed }: Pick<RunProgress, 'landed'>, kinds: readonly LandedKind[]): Landed {
  return {
    rows: sumRows(kinds.map((kind) => landed[kind].rows)),
    bytes: kinds.reduce((sum, kind) => sum + landed[kind].bytes, 0),
  };
}
