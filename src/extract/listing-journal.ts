import type { JournalEntry } from '../landing/journal-entry.js';
import type { Landing } from '../landing/landing.js';
import type { Dataset } from '../plan/plan-shards.js';

const TYPES = ['listing.counts', 'listing.plan', 'listing.page', 'listing.read', 'listing.acted'] as const;
type ListingEntry = Extract<JournalEntry, { type: (typeof TYPES)[number] }>;
type Of<T extends ListingEntry['type']> = Extract<ListingEntry, { type: T }>;

/** What the journal says of a part's listing states: counts, then plans, what was read by each, and that it is done. */
export class ListingJournal {
  readonly #landing: Landing;
  readonly #dataset: Dataset;

  constructor(landing: Landing, dataset: Dataset) {
    this.#landing = landing;
    this.#dataset = dataset;
  }

  get #entries(): ListingEntry[] {
    const isOurs = (entry: JournalEntry): entry is ListingEntry => (TYPES as readonly string[]).includes(entry.type);
    return this.#landing.journal.entries.filter(isOurs).filter(({ dataset }) => dataset === this.#dataset);
  }

  all<T extends ListingEntry['type']>(type: T): Of<T>[] {
    return this.#entries.filter((entry): entry is Of<T> => entry.type === type);
  }

  last<T extends ListingEntry['type']>(type: T): Of<T> | undefined {
    return this.all(type).at(-1);
  }

  /** True when what was planned by the last counts is done. */
  hasActed(): boolean {
    const last = this.#entries.findLast(({ type }) => type === 'listing.counts' || type === 'listing.acted');
    return last?.type === 'listing.acted';
  }

  /** The plan that was made by the last counts; undefined where there is none yet. */
  findPlan(): Of<'listing.plan'> | undefined {
    const last = this.#entries.findLast(({ type }) => type === 'listing.plan' || type === 'listing.counts');
    return last?.type === 'listing.plan' ? last : undefined;
  }

  /** Readings of a plan that have ended, in order. */
  listEnded(plan: Of<'listing.plan'>): Of<'listing.read'>[] {
    const behind = this.#listBehind(plan);
    const next = behind.findIndex(({ type }) => type === 'listing.plan');
    return behind.slice(0, next < 0 ? undefined : next).filter((entry) => entry.type === 'listing.read');
  }

  /** Files of all pages and single items that came after a plan. */
  listFiles(plan: Of<'listing.plan'>): string[] {
    return listFileNames(this.#listBehind(plan));
  }

  /** Files and pages of the reading that is under way: behind the last plan, or the last reading that ended. */
  listOpenPages(): { files: string[]; pages: number } {
    const entries = this.#entries;
    const begin = entries.findLastIndex(({ type }) => type === 'listing.read' || type === 'listing.plan');
    const open = entries.slice(begin + 1);
    return { files: listFileNames(open), pages: open.filter(({ type }) => type === 'listing.page').length };
  }

  #listBehind(plan: ListingEntry): ListingEntry[] {
    const entries = this.#entries;
    return entries.slice(entries.indexOf(plan) + 1);
  }
}

function listFileNames(entries: readonly ListingEntry[]): string[] {
  const pages = entries.filter((entry) => entry.type === 'listing.page');
  return [...new Set(pages.map(({ file }) => file))];
}
