import { type LakeMemory, type Memory, writePages } from '../journal/memory.js';
import type { FeedPage } from './page.js';

/** The maximum number of changes on a page (API §4, /changes). */
export const PAGE_LIMIT = 1000;

/** After changes have followed a page with `hasMore: false`, this value isn't trusted for this many milliseconds. */
const DISBELIEF_MS = 30 * 24 * 3600 * 1000;

type Page = Pick<FeedPage, 'hasMore'> & { rows: number };

interface SeenPages {
  /** The number of changes on the longest page so far. */
  longest: number;
  /** True if changes have followed a page with `hasMore: false`. This value then can't be trusted. */
  isDenying: boolean;
}

type Remembered = Pick<LakeMemory, 'longestPage' | 'deniedMoreAt'>;

/** The observations of earlier runs about page lengths and `hasMore`, from the lake's saved state. */
export interface PageMemory extends Pick<Memory, 'append'> {
  readonly state: Remembered;
}

/** Returns the observations of earlier runs. Ignores a wrong `hasMore` that was observed more than DISBELIEF_MS ago. */
export function recallPages({ longestPage, deniedMoreAt }: Remembered, now: Date): SeenPages {
  const isDenying = deniedMoreAt !== undefined && now.getTime() - deniedMoreAt.getTime() < DISBELIEF_MS;
  return { longest: longestPage, isDenying };
}

/**
 * True if more changes may follow a page with `hasMore: false`. Some services always send false, so a page as long as
 * the longest one may be cut off. If `hasMore: false` was wrong before, a page of any length may be cut off.
 * @param hasMark true if the run has read complete rows, and needs the feed only up to the watermark
 */
export function mayBeCut({ rows, hasMore }: Page, { longest, isDenying }: SeenPages, hasMark: boolean): boolean {
  return !hasMore && rows > 0 && (isDenying || rows >= (hasMark ? PAGE_LIMIT : Math.min(longest, PAGE_LIMIT)));
}

/** Determines the end of a feed, even if the service sends `hasMore: false` too early. */
export class FeedPages {
  readonly #memory: PageMemory;
  readonly #now: Date;
  readonly #seen: SeenPages;
  #isSeenDenying = false;

  /** @param landed the length of the longest page in earlier attempts of this run */
  constructor(memory: PageMemory, landed: number, now: Date) {
    this.#memory = memory;
    this.#now = now;
    const { longest, isDenying } = recallPages(memory.state, now);
    this.#seen = { longest: Math.max(longest, landed), isDenying };
  }

  /**
   * Returns a function that must be called with each page of a feed, in order. It returns true if another page must be
   * requested although `hasMore` is false. After changes have followed such a page, reading ends at an empty page.
   */
  follow(hasMark: boolean): (page: Page, isBehind: boolean) => boolean {
    let denial: { rows: number; isBehind: boolean } | undefined;
    return (page, isBehind) => {
      const { rows } = page;
      const isContinued = denial !== undefined && rows > 0;
      // A shorter page doesn't prove that `hasMore` was wrong, because its changes may be newer than that response.
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

  /** Saves the observations of this run for later runs. */
  async remember(): Promise<void> {
    const { longestPage, deniedMoreAt } = this.#memory.state;
    if (this.#seen.longest === longestPage && !this.#isSeenDenying) return;
    await this.#memory.append(writePages(this.#seen.longest, this.#isSeenDenying ? this.#now : deniedMoreAt));
  }
}
