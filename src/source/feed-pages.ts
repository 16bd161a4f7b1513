import { type LakeMemory, type Memory, writePages } from '../journal/memory.js';
import type { FeedPage } from './page.js';

/** The largest page that a caller may request (section 4, /changes). */
export const PAGE_LIMIT = 1000;

/** After a page without `hasMore` was followed by more changes, `hasMore` is not trusted for this time. */
const DISBELIEF_MS = 30 * 24 * 3600 * 1000;

type Page = Pick<FeedPage, 'hasMore'> & { rows: number };

interface SeenPages {
  /** The number of changes on the longest page so far. */
  longest: number;
  /** True if a page without `hasMore` was followed by more changes. */
  isDenying: boolean;
}

type Remembered = Pick<LakeMemory, 'longestPage' | 'deniedMoreAt'>;

/** The stored observations about the lengths of feed pages and about `hasMore`. */
export interface PageMemory extends Pick<Memory, 'append'> {
  readonly state: Remembered;
}

/** Reads the observations from the lake's memory. */
export function recallPages({ longestPage, deniedMoreAt }: Remembered, now: Date): SeenPages {
  const isDenying = deniedMoreAt !== undefined && now.getTime() - deniedMoreAt.getTime() < DISBELIEF_MS;
  return { longest: longestPage, isDenying };
}

/**
 * True if more changes may follow a page without `hasMore`, because some services never set it. A page shorter than an
 * earlier one was not cut at a fixed length, so it is the last, unless the service has already left out `hasMore`
 * wrongly.
 * @param hasMark true if whole rows were read, so that the run claims only what happened before them
 */
export function mayBeCut({ rows, hasMore }: Page, { longest, isDenying }: SeenPages, hasMark: boolean): boolean {
  return !hasMore && rows > 0 && (isDenying || rows >= (hasMark ? PAGE_LIMIT : Math.min(longest, PAGE_LIMIT)));
}

/** Decides when the feed has been read to its end, even if the service sends `hasMore: false` too early. */
export class FeedPages {
  readonly #memory: PageMemory;
  readonly #now: Date;
  readonly #seen: SeenPages;
  #isSeenDenying = false;

  /** @param landed the length of the longest page that earlier tries of the run landed */
  constructor(memory: PageMemory, landed: number, now: Date) {
    this.#memory = memory;
    this.#now = now;
    const { longest, isDenying } = recallPages(memory.state, now);
    this.#seen = { longest: Math.max(longest, landed), isDenying };
  }

  /**
   * Returns a function that receives the pages of a part in order, and decides whether to request another although
   * `hasMore` is false. Once changes have followed such a page, only an empty page counts as the end.
   */
  follow(hasMark: boolean): (page: Page, isBehind: boolean) => boolean {
    let denial: { rows: number; isBehind: boolean } | undefined;
    return (page, isBehind) => {
      const { rows } = page;
      const isContinued = denial !== undefined && rows > 0;
      // A few changes may have happened while the page was requested.
      if (isContinued && (denial?.isBehind === true || rows >= (denial?.rows ?? 0))) this.#noteDenial();
      const isCut = (isContinued && !hasMark) || mayBeCut(page, this.#seen, hasMark);
      this.#seen.longest = Math.max(this.#seen.longest, rows);
      denial = page.hasMore || rows === 0 ? undefined : { rows, isBehind };
      return denial !== undefined && (isBehind || isCut);
    };
  }

  #noteDenial(): void {
    this.#seen.isDenying = true;
    this.#isSeenDenying = true;
  }

  /** Writes the observations to the lake's memory for later runs. */
  async remember(): Promise<void> {
    const { longestPage, deniedMoreAt } = this.#memory.state;
    if (this.#seen.longest === longestPage && !this.#isSeenDenying) return;
    await this.#memory.append(writePages(this.#seen.longest, this.#isSeenDenying ? this.#now : deniedMoreAt));
  }
}
