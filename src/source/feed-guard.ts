import { PricelakeError } from '../io/errors.js';
import { LIMITS } from '../io/limits.js';
import type { FeedPage } from './page.js';

/** The end of the whole feed at a certain time. Every change up to `newest` is in the feed. */
export interface FeedEnd {
  newest: bigint;
  at: string;
}

export interface FeedGuard {
  /**
   * Returns the next cursor, and whether more must be read. Throws `contract` for a page that makes no progress, or
   * that skips changes, which the lake would never see.
   * @param findNewest asks for the newest change of this part
   */
  admit(page: FeedPage, after: bigint, findNewest: () => Promise<bigint>): Promise<{ cursor: bigint; goesOn: boolean }>;
  /** The end up to which a long feed is read; undefined for a short feed. Changes beyond it belong to the next run. */
  goal(): FeedEnd | undefined;
  /** The goal, if it was reached although the feed already had later changes. */
  reached(): FeedEnd | undefined;
}

/**
 * @param findEnd asks for the feed's end (section 4, /changes/recent); called once a feed has become long, and for a
 *   cursor beyond all changes shown so far
 * @param known a cursor from which earlier runs continued
 */
export function createFeedGuard(findEnd: () => Promise<FeedEnd>, known = 0n): FeedGuard {
  let newest = known;
  let goal: FeedEnd | undefined;
  let isReached = false;
  /** Numbers of pages with `hasMore`, of the changes on these pages, and of empty pages at the end. */
  let pages = 0;
  let changes = 0;
  let emptyPages = 0;

  function count({ readable }: FeedPage, after: bigint): void {
    pages += 1;
    changes += readable;
    emptyPages = readable === 0 ? emptyPages + 1 : 0;
    if (emptyPages >= LIMITS.emptyPages) {
      throw refuse(after, `${emptyPages} pages in a row have hasMore true but no changes`);
    }
    const { freePages, changesAPage } = LIMITS.feedPace;
    if (pages <= freePages + changes / changesAPage) return;
    const hint =
      'Nothing was published. Landed data is kept, and the same command continues from there. Report this to the service.';
    throw refuse(
      after,
      `hasMore is still true after ${pages} pages with ${changes} changes: the feed has no end`,
      hint,
    );
  }

  return {
    async admit(page, after, findNewest) {
      const { shown, hasMore, nextCursor } = page;
      if (hasMore) count(page, after);
      if (nextCursor > shown && nextCursor > newest) ({ newest } = await findEnd());
      if (nextCursor > shown && nextCursor > newest) {
        // The service may be unable to continue from the page's cursor, so the next cursor stays at the last change
        // received.
        const last = newest > shown ? await findNewest() : newest;
        if (last <= shown) return { cursor: shown, goesOn: false };
        throw refuse(after, `nextCursor ${nextCursor} is beyond the newest change of /changes/recent, ${last}`);
      }
      if (!hasMore) return { cursor: nextCursor, goesOn: false };
      if (pages === LIMITS.longFeedPages) {
        const end = await findEnd();
        // An end before the cursor is outdated.
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
