import type { Applied } from './table.js';

/**
 * The changes that a run works on, by their ids: what the feed brings behind `from`, up to the cursor `to`. All bounds are
 * cursors: a change is behind one if its id is greater.
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
 * Usually `from`, `applyFrom` and `known` are one cursor, and nothing is ahead. Changes behind `again` are read once more:
 * one that history lacks became visible late, so its item is read whole. `from` is further back if a dataset is new to the
 * lake. `applyFrom` is where a crash lost the landing between the commits of history and items; on a first copy it
 * is the watermark, because whole rows show what happened before it. Webhooks, and the feed of one of several datasets,
 * bring changes ahead of `to`: when such a change comes again, it is compared with history by its id.
 */
export interface CursorWindow {
  /** History holds every change of the feed up to it; undefined if no feed was read before. */
  known: bigint | undefined;
  /** The feed is read from after it. */
  from: bigint;
  /** A change after it that is new to history became visible late, because items are already applied beyond it. */
  again: bigint;
  /** Changes after it are not yet applied to items. */
  applyFrom: bigint;
  /** Every change up to it has landed, and the run's commits record it; undefined without the feed. */
  to: bigint | undefined;
  /** The newest change that history holds beyond `known`; 0 if there is none. */
  ahead: bigint;
  /** Changes up to it happened before whole rows were read; undefined if the run reads none. */
  watermark: bigint | undefined;
  /** True if items hold all changes up to `applyFrom`; false if no feed was ever applied to them. */
  isApplied: boolean;
}

/** Changes before the cursor that the feed is asked for again, because changes may become visible late. */
export interface FeedOverlap {
  /** The feed is read from after it. */
  after: bigint;
  /** The ids of the changes after it that history already holds, up to the cursor. */
  known: ReadonlySet<bigint>;
}

/** The window of a run over a lake with these cursors of history and items. */
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

/** The newest change that history may hold before the run. */
export function findHeld({ known = 0n, ahead }: Pick<CursorWindow, 'known' | 'ahead'>): bigint {
  return known > ahead ? known : ahead;
}
