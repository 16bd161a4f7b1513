import { type LakeMemory, type Memory, writePages } from '../journal/memory.js';
import type { FeedPage } from './page.js';

/** The maximum number of changes on a page (API §4, /changes). */
export const PAGE_LIMIT = 1000;

/** For this many milliseconds after changes followed a page without `hasMore`, `hasMore: false` isn't trusted. */
const DISBELIEF_MS = 30 * 24 * 3600 * 1000;

type Page = Pick<FeedPage, 'hasMore'> & { rows: number };

interface SeenPages {
  /** The number of changes on the longest page so far. */
  longest: number;
  /** True if a page without `hasMore` was followed by more changes. */
  isDenying: boolean;
}

type Remembered = Pick<LakeMemory, 'longestPage' | 'deniedMoreAt'>;

/** The lake's saved observations about page lengths and `hasMore`. */
export interface PageMemory extends Pick<Memory, 'append'> {
  readonly state: Remembered;
}

/** Returns the observations in the lake's saved state. */
export function recallPages({ longestPage, deniedMoreAt }: Remembered, now: Date): SeenPages {
  const isDenying = deniedMoreAt !== undefined && now.getTime() - deniedMoreAt.getTime() < DISBELIEF_MS;
  return { longest: longestPage, isDenying };
}

/**
 * True if more changes may follow a page without `hasMore`, because some services never set it. A page shorter than an
 * earlier one wasn't cut at a fixed length, so it is the last page, unless the service has omitted `hasMore` wrongly
 * before.
 * @param hasMark true if whole rows were read, so that the feed only has to be complete up to the watermark
 */
export function mayBeCut({ rows, hasMore }: Page, { longest, isDenying }: SeenPages, hasMark: boolean): boolean {
  return !hasMore && rows > 0 && (isDenying || rows >= (hasMark ? PAGE_LIMIT : Math.min(longest, PAGE_LIMIT)));
}

/** Decides when the end of the feed is reached, even if the service sends `hasMore: false` too early. */
export class FeedPages {
  readonly #memory: PageMemory;
  readonly #now: Date;
  readonly #seen: SeenPages;
  #isSeenDenying = false;

  /** @param landed the length of the longest page that earlier attempts of the run received */
  constructor(memory: PageMemory, landed: number, now: Date) {
    this.#memory = memory;
    this.#now = now;
    const { longest, isDenying } = recallPages(memory.state, now);
    this.#seen = { longest: Math.max(longest, landed), isDenying };
  }

  /**
   * Returns a function that takes the pages of a part in order, and returns whether to request another page although
   * `hasMore` is false. Once changes have followed such a page, only an empty page counts as the end.
   */
  follow(hasMark: boolean): (page: Page, isBehind: boolean) => boolean {
    let denial: { rows: number; isBehind: boolean } | undefined;
    return (page, isBehind) => {
      const { rows } = page;
      const isContinued = denial !== undefined && rows > 0;
      // A shorter page may only contain changes that happened since the previous request.
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

  /** Saves the observations in the lake's state for later runs. */
  async remember(): Promise<void> {
    const { longestPage, deniedMoreAt } = this.#memory.state;
    if (this.#seen.longest === longestPage && !this.#isSeenDenying) return;
    await this.#memory.append(writePages(this.#seen.longest, this.#isSeenDenying ? this.#now : deniedMoreAt));
  }
}
