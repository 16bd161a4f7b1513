import { type LakeMemory, type Memory, writePages } from '../journal/memory.js';
import type { FeedPage } from './page.js';

/** The longest page that the service may be asked for (section 4, /changes). */
export const PAGE_LIMIT = 1000;

/** So long a service that denied waiting changes is not believed. After that, its pages may show it again. */
const DISBELIEF_MS = 30 * 24 * 3600 * 1000;

/** A page of the feed, as far as its end concerns. */
type Page = Pick<FeedPage, 'hasMore'> & { rows: number };

/** Facts that runs have seen about the pages of the feed. */
interface SeenPages {
  /** Changes on the longest page so far. */
  longest: number;
  /** True if a page denied that more changes wait, although some did. */
  isDenying: boolean;
}

type Remembered = Pick<LakeMemory, 'longestPage' | 'deniedMoreAt'>;

/** The memory of a lake, as far as it concerns the pages of its feed. */
export interface PageMemory extends Pick<Memory, 'append'> {
  readonly state: Remembered;
}

/** Reads these facts from the memory of a lake. */
export function recallPages({ longestPage, deniedMoreAt }: Remembered, now: Date): SeenPages {
  const isDenying = deniedMoreAt !== undefined && now.getTime() - deniedMoreAt.getTime() < DISBELIEF_MS;
  return { longest: longestPage, isDenying };
}

/**
 * True if changes may wait behind a page without `hasMore`, because some services never say so. A page that is shorter
 * than another one was not cut at a fixed length; only a service that denied waiting changes before may cut anywhere.
 * @param hasMark true if whole rows were read, so that the run claims only what happened before them
 */
export function mayBeCut({ rows, hasMore }: Page, { longest, isDenying }: SeenPages, hasMark: boolean): boolean {
  return !hasMore && rows > 0 && (isDenying || rows >= (hasMark ? PAGE_LIMIT : Math.min(longest, PAGE_LIMIT)));
}

/** Follows the pages of the feed, so that a run ends at its end although the service may deny that more waits. */
export class FeedPages {
  readonly #memory: PageMemory;
  readonly #now: Date;
  readonly #seen: SeenPages;
  #isSeenDenying = false;

  /** @param landed the longest page that earlier tries of the run landed */
  constructor(memory: PageMemory, landed: number, now: Date) {
    this.#memory = memory;
    this.#now = now;
    const { longest, isDenying } = recallPages(memory.state, now);
    this.#seen = { longest: Math.max(longest, landed), isDenying };
  }

  /**
   * Returns a function that takes the pages of a part, one after the other, and says whether to ask for another although
   * `hasMore` is false. Once changes came behind such a page, only an empty page is the end.
   */
  follow(hasMark: boolean): (page: Page, isBehind: boolean) => boolean {
    let denial: { rows: number; isBehind: boolean } | undefined;
    return (page, isBehind) => {
      const { rows } = page;
      const isContinued = denial !== undefined && rows > 0;
      // Few changes may have come while the page was asked for.
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

  /** Writes what later runs need to know to the lake's memory. */
  async remember(): Promise<void> {
    const { longestPage, deniedMoreAt } = this.#memory.state;
    if (this.#seen.longest === longestPage && !this.#isSeenDenying) return;
    await this.#memory.append(writePages(this.#seen.longest, this.#isSeenDenying ? this.#now : deniedMoreAt));
  }
}
