import { isHydrationExport } from './exports.js';
import type { Dataset } from './landed-entry.js';
import type { EntryOf, RunEntry } from './run-entry.js';

/** Whole reads of items about which the changes say too little. */
export interface Hydration {
  /** Numbers of the pages of changed items that have landed. */
  pages: ReadonlyMap<Dataset, ReadonlySet<number>>;
  /** True if a page or an export brought items, which single reads may be ahead of. */
  hasLists: boolean;
  /** True if items were read one by one, because pages were no longer worth a call. */
  hasSingles: boolean;
  /** True if items were read again, because a list showed less than the feed. */
  isReadAgain: boolean;
}

export const NO_HYDRATION: Hydration = { pages: new Map(), hasLists: false, hasSingles: false, isReadAgain: false };

export function foldHydration(hydration: Hydration, entry: RunEntry): Hydration {
  if (entry.type === 'hydrate.again') return { ...hydration, isReadAgain: true };
  if (entry.type !== 'hydrate.page') return hydration;
  const { dataset, page, rows, file } = entry;
  const read = {
    ...hydration,
    hasLists: hydration.hasLists || rows > 1,
    hasSingles: hydration.hasSingles || (page === undefined && rows === 1 && !isHydrationExport(file)),
  };
  if (page === undefined) return read;
  const pages = new Set(hydration.pages.get(dataset)).add(page);
  return { ...read, pages: new Map(hydration.pages).set(dataset, pages) };
}

/** Answers that are compared with the lake; undefined until they have landed. */
export interface Comparisons {
  /** Items of the sample that the service does not show. */
  missing: readonly bigint[] | undefined;
  /** True for all products, false for a page of them. */
  allProducts: boolean | undefined;
  /** Answer of /facets. */
  facets: string | undefined;
}

export const NO_COMPARISONS: Comparisons = { missing: undefined, allProducts: undefined, facets: undefined };

export function foldComparisons(comparisons: Comparisons, entry: RunEntry): Comparisons {
  if (entry.type === 'sample.done') return { ...comparisons, missing: entry.missing };
  if (entry.type === 'products.done') return { ...comparisons, allProducts: entry.whole };
  return entry.type === 'facets' ? { ...comparisons, facets: entry.answer } : comparisons;
}

/** The service's state before whole rows are read. Any change that they miss comes after it. */
export interface LowWatermark {
  /** Newest change of the feed; changes up to it are in every row that is read later. Undefined without a feed. */
  cursor: bigint | undefined;
  /** The last hour of changes begins after it; undefined if the feed is read from further back. */
  from: bigint | undefined;
  /** When the item that changed last did so, ISO 8601; undefined when there is no item. */
  changedAt: string | undefined;
  /** All items, including removed ones. An item in several datasets counts in each. */
  items: bigint;
  /** Items of each part that was asked for. */
  counts: ReadonlyMap<Dataset, bigint>;
  /** When it was taken, ISO 8601. */
  at: string;
}

export function readWatermark({ items, at, ...entry }: EntryOf<'watermark'>): LowWatermark {
  const counts = new Map<Dataset, bigint>(entry.counts?.map((one) => [one.dataset, one.items]));
  const others = items - [...counts.values()].reduce((sum, count) => sum + count, 0n);
  // Items of the part without a dataset are not noted, so they are the rest.
  if (others > 0n || counts.size === 0) counts.set(undefined, others);
  return {
    cursor: entry.cursor ?? undefined,
    from: entry.from,
    changedAt: entry.changedAt ?? undefined,
    items,
    counts,
    at,
  };
}
