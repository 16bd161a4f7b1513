import { PricelakeError } from '../io/errors.js';
import { LIMITS } from '../io/limits.js';
import type { FeedPage } from './page.js';

/** The newest change in the feed at the time `at`. The feed contains every change up to `newest`. */
export interface FeedEnd {
  newest: bigint;
  at: string;
}

export interface FeedGuard {
  /**
   * Checks a page. Returns the next cursor, and whether to request another page.
   * @throws PricelakeError `contract` if the page makes no progress, or if its cursor skips changes that would be lost
   * @param findNewest requests the id of the newest change in this part of the feed
   */
  admit(page: FeedPage, after: bigint, findNewest: () => Promise<bigint>): Promise<{ cursor: bigint; goesOn: boolean }>;
  /** The change at which to stop reading a long feed; undefined for a short feed. The next run reads later changes. */
  goal(): FeedEnd | undefined;
  /** Returns `goal()` if reading has stopped at that change although later changes exist; otherwise undefined. */
  reached(): FeedEnd | undefined;
}

/**
 * Creates a guard for the feed's length and cursors.
 * @param findEnd requests the feed's end (API §4, /changes/recent) if the feed is long or a cursor is too new
 * @param known a cursor that is valid, because earlier runs have continued from it
 */
export function createFeedGuard(findEnd: () => Promise<FeedEnd>, known = 0n): FeedGuard {
  let newest = known;
  let goal: FeedEnd | undefined;
  let isReached = false;
  /** `pages` and `changes` count pages with `hasMore` and their changes. `emptyPages` counts empty pages in a row. */
  let pages = 0;
  let changes = 0;
  let emptyPages = 0;

  function count({ readable }: FeedPage, after: bigint): void {
    pages += 1;
    changes += readable;
    emptyPages = readable === 0 ? emptyPages + 1 : 0;
    if (emptyPages >= LIMITS.emptyPages) {
      throw refuse(after, `${emptyPages} consecutive pages have no changes, but hasMore is true`);
    }
    const { freePages, changesAPage } = LIMITS.feedPace;
    if (pages <= freePages + changes / changesAPage) return;
    const hint =
      'Nothing was published. Report this to the service. To continue from the downloaded data, run the same command again.';
    throw refuse(after, `hasMore is still true after ${pages} pages with only ${changes} changes`, hint);
  }

  return {
    async admit(page, after, findNewest) {
      const { shown, hasMore, nextCursor } = page;
      if (hasMore) count(page, after);
      if (nextCursor > shown && nextCursor > newest) ({ newest } = await findEnd());
      if (nextCursor > shown && nextCursor > newest) {
        // The service may refuse a cursor beyond the feed's end. If nothing is missing, returns the last change's id.
        const last = newest > shown ? await findNewest() : newest;
        if (last <= shown) return { cursor: shown, goesOn: false };
        throw refuse(after, `nextCursor ${nextCursor} is beyond the newest change of /changes/recent, ${last}`);
      }
      if (!hasMore) return { cursor: nextCursor, goesOn: false };
      if (pages === LIMITS.longFeedPages) {
        const end = await findEnd();
        // If the cursor has already passed `end.newest`, that end is out of date.
        if (end.newest >= nextCursor) goal = end;
      }
      isReached = goal !== undefined && nextCursor >= goal.newest;
      return { cursor: nextCursor, goesOn: !isReached };
    },
    goal: () => goal,
    reached: () => (isReached ? goal : undefined),
  };
}

function refuse(
  after: bigint,
  what: string,
  hint = 'Nothing was published. Report this to the service, and run the same command again once its feed is fixed.',
): PricelakeError {
  return new PricelakeError('contract', `/changes?after=${after}: ${what}`, { hint });
}
