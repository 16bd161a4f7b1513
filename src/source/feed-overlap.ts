import type { Slice } from '../formats/json-scan.js';
import type { FeedOverlap } from '../tables/cursor-window.js';
import { readChangeId } from './page.js';

/** The changes before the lake's cursor that are read again. */
export interface ReadOverlap extends FeedOverlap {
  /** Filters the ids of changes that earlier runs rejected. History doesn't contain rejected changes. */
  findRejected(ids: readonly bigint[]): Promise<ReadonlySet<bigint>>;
}

/**
 * Returns the page's changes that the lake doesn't contain yet. The service may show changes late, even before the
 * lake's cursor. Skips a change without a readable id if the last readable id is below the lake's cursor.
 * @param after the page's cursor
 * @param from the lake's cursor
 */
export async function leaveOutSeen(
  { body, changes }: { body: Buffer; changes: readonly Slice[] },
  after: bigint,
  from: bigint,
  { known, findRejected }: ReadOverlap,
): Promise<readonly Slice[]> {
  if (after >= from) return changes;
  const ids = changes.map((slice) => readChangeId(body, slice));
  let last = after;
  const isNew = ids.map((id) => {
    last = id ?? last;
    return id === undefined ? last >= from : id > from || !known.has(id);
  });
  const late = ids.filter((id, place): id is bigint => isNew[place] === true && id !== undefined && id <= from);
  const rejected = late.length === 0 ? known : await findRejected(late);
  return changes.filter((_, place) => isNew[place] === true && !rejected.has(ids[place] ?? from + 1n));
}
