import * as z from 'zod';
import { beginTry, type Calls, type Counted, countBetween, countOn, NO_CALLS } from '../../journal/calls.js';
import { type Chain, listChain } from '../../journal/chain.js';
import type { Fold } from '../../journal/journal.js';
import { asked, counted, int64Text, note } from '../../journal/run-entry.js';

/** An entry in the journal of a backfill. A backfill downloads item histories, which the next run adds to the lake. */
export const backfillEntry = z.discriminatedUnion('type', [
  note('try', { at: z.string() }),
  asked('usage.before', { counted }),
  asked('usage.after', { counted }),
  /** The history of an item has been downloaded. Its last row ends at byte `end` of the file of histories. */
  asked('backfill.item', { itemId: int64Text, rows: z.number(), end: z.number(), sha256: z.string() }),
  /** All histories have been downloaded, except those of `left` items, for which there were no calls. */
  asked('backfill.done', { left: z.number() }),
]);
export type BackfillEntry = z.infer<typeof backfillEntry>;

export interface Backfill {
  isBegun: boolean;
  /** True if all requested histories have been downloaded. */
  isDone: boolean;
  /** True if the backfill was complete at some time, even if more histories have been requested since then. */
  wasDone: boolean;
  items: Chain<bigint> | undefined;
  rows: number;
  bytes: number;
  /** The number of items whose histories weren't requested, because there were no calls for them. */
  left: number;
  calls: Calls;
  /** The number of calls that earlier processes made, according to the service's usage counter where that is known. */
  counted: bigint;
  /** The service's usage counter before and after this process, and the number of calls that the process counted. */
  now: { before: Counted; after: Counted; calls: number };
}

const NO_PROCESS = { before: null, after: null, calls: 0 };

export const BACKFILL_FOLD: Fold<BackfillEntry, Backfill> = {
  entry: backfillEntry,
  start: {
    ...{ isBegun: false, isDone: false, wasDone: false, items: undefined, rows: 0, bytes: 0, left: 0 },
    ...{ calls: NO_CALLS, counted: 0n, now: NO_PROCESS },
  },
  step: foldBackfill,
  seal: 'chain',
  advice: 'Move its folder away, then request these histories again, which takes one call per item.',
};

function foldBackfill(backfill: Backfill, entry: BackfillEntry): Backfill {
  const next = {
    ...backfill,
    isBegun: true,
    isDone: entry.type === 'backfill.done',
    wasDone: backfill.wasDone || entry.type === 'backfill.done',
    calls: entry.type === 'try' ? beginTry(backfill.calls) : countOn(backfill.calls, entry.calls),
  };
  if (entry.type === 'try') return next;
  const now = { ...backfill.now, calls: entry.calls };
  switch (entry.type) {
    // Each process writes this entry first, so it separates the calls of this process from those of earlier processes.
    case 'usage.before':
      return {
        ...next,
        counted: countCalls(backfill),
        now: { ...NO_PROCESS, before: entry.counted, calls: entry.calls },
      };
    case 'usage.after':
      return { ...next, now: { ...now, after: entry.counted } };
    case 'backfill.item': {
      const { itemId, rows, end: bytes } = entry;
      return { ...next, now, items: { value: itemId, before: backfill.items }, rows: backfill.rows + rows, bytes };
    }
    case 'backfill.done':
      return { ...next, now, left: entry.left };
  }
}

/** Returns the number of calls that all processes made, according to the service's usage counter if possible. */
export function countCalls({ counted: before, now }: Backfill): bigint {
  return before + (countBetween(now.before, now.after)?.calls ?? BigInt(now.calls));
}

export function listItems({ items }: Backfill): bigint[] {
  return listChain(items);
}
