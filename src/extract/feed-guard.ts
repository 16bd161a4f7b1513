import { PricelakeError } from '../errors/errors.js';
import { MAX_EMPTY_PAGES } from '../io/limits.js';
import type { FeedPage } from './page.js';

/** Lets pages of a feed through, one after the other, while they lead to its end. */
export interface FeedGuard {
  /** Throws `contract` for a page that leads nowhere, or past changes that the lake would then never see. */
  admit(page: FeedPage, after: bigint): Promise<void>;
}

/**
 * @param readNewest id of the newest change of the whole feed (section 4, /changes/recent); asked only where a cursor
 *   is beyond all that its page and the answers before have shown
 */
export function createFeedGuard(readNewest: () => Promise<bigint | undefined>): FeedGuard {
  let newest = 0n;
  let emptyPages = 0;
  return {
    async admit({ changes, shown, hasMore, nextCursor }, after) {
      emptyPages = changes.length === 0 && hasMore ? emptyPages + 1 : 0;
      if (emptyPages >= MAX_EMPTY_PAGES) {
        throw refuse(after, `${emptyPages} pages in a row have hasMore true and bring no change`);
      }
      if (nextCursor > shown && nextCursor > newest) newest = (await readNewest()) ?? 0n;
      if (nextCursor > shown && nextCursor > newest) {
        throw refuse(after, `nextCursor ${nextCursor} is beyond the newest change of /changes/recent, ${newest}`);
      }
    },
  };
}

function refuse(after: bigint, what: string): PricelakeError {
  const hint = 'Nothing was published. Tell the service; if it has mended its feed, run the same command again.';
  return new PricelakeError('contract', `/changes?after=${after}: ${what}`, { hint });
}
