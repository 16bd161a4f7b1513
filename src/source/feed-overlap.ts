import type { Slice } from '../formats/json-scan.js';
import type { FeedOverlap } from '../tables/cursor-window.js';
import { readChangeId } from './page.js';

/** The feed before the lake's cursor, where it is read again. */
export interface ReadOverlap extends FeedOverlap {
  /** The ids among these of changes that earlier runs rejected, so that history lacks them. */
  findRejected(ids: readonly bigint[]): Promise<ReadonlySet<bigint>>;
}

/**
 * Returns the changes of a page that the lake has not seen. Up to the lake's cursor, that's late changes alone. A change
 * without a readable id counts as seen if a change that was seen comes behind it on the page.
 * @param after the cursor of the page
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
