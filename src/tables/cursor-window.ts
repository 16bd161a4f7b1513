import type { Applied } from './table.js';

/**
 * The changes that a run processes: those that the feed returns after `from`, up to `to`. Each bound is a cursor, and a
 * change is after a cursor if its id is greater.
 *
 * ```
 *      from      again    applyFrom = known            to           ahead
 *  ──────┼─────────┼─────────────┼──────────────────────┼──────────────┼──▶ change ids
 *        │ new datasets:         │ new to history;      │ in history;  │
 *        │ compared with history │ applied to items,    │ in items when│
 *        │ by id   │ read again: │ and known next time  │ `to` passes  │
 *        │         │ only late   │                      │              │
 *        │         │ ones land   │                      │              │
 * ```
 *
 * Usually `from`, `applyFrom` and `known` are equal, and history has no changes after `to`. Changes after `again` are
 * read again. If history lacks such a change, the change became visible late, so its item is read in full. `from` is
 * earlier if a dataset is new to the lake. `applyFrom` is before `known` if the run's files were lost after a crash
 * between the commits of history and items. On a first copy, `applyFrom` is the watermark, because complete rows include
 * all earlier changes. Webhooks, and the feed of one of several datasets, add changes after `to`. When the feed returns
 * these changes again, the run finds their ids in history.
 */
export interface CursorWindow {
  /** History contains every change of the feed up to this cursor; undefined if the feed was never read. */
  known: bigint | undefined;
  /** The cursor after which the feed is read. */
  from: bigint;
  /** Changes after this cursor are read again. A change up to `applyFrom` that history lacks became visible late. */
  again: bigint;
  /** Changes after this cursor haven't been applied to items. */
  applyFrom: bigint;
  /** Every change up to this cursor has landed, and the run's commits record it; undefined if the run reads no feed. */
  to: bigint | undefined;
  /** The id of the newest change in history beyond `known`; 0 if there is none. */
  ahead: bigint;
  /** Changes up to this cursor happened before the run read complete rows; undefined if the run reads no such rows. */
  watermark: bigint | undefined;
  /** True if items contain all changes up to `applyFrom`; false if the feed was never applied to items. */
  isApplied: boolean;
}

/** The changes before the lake's cursor that are read from the feed again, because a change may become visible late. */
export interface FeedOverlap {
  /** The cursor after which the feed is read. */
  after: bigint;
  /** The ids of the changes between `after` and the lake's cursor that history already contains. */
  known: ReadonlySet<bigint>;
}

/** Returns the cursor window of a run, given the lake's cursors and the range of changes to read. */
export function openWindow(
  { history, items }: Record<'history' | 'items', { applied: Applied }>,
  { from, to, watermark, overlap }: Pick<CursorWindow, 'from' | 'to' | 'watermark'> & { overlap?: bigint | undefined },
): CursorWindow {
  const { cursor } = items.applied;
  const applyFrom = cursor ?? watermark ?? from;
  return {
    known: history.applied.cursor,
    from,
    again: overlap ?? applyFrom,
    applyFrom,
    to,
    ahead: history.applied.ahead,
    watermark,
    isApplied: cursor !== undefined,
  };
}

/** Returns the largest change id that history may contain before the run. */
export function findHeld({ known = 0n, ahead }: Pick<CursorWindow, 'known' | 'ahead'>): bigint {
  return known > ahead ? known : ahead;
}
