import { isHydrationExport } from './exports.js';
import type { Dataset, EntryOf, Part, RunEntry } from './run-entry.js';

/** Pages of items, by what they were read for. */
export const PAGE_KINDS = ['hydrate', 'poll', 'listing', 'sample', 'products'] as const;
export type PageKind = (typeof PAGE_KINDS)[number];

/** A file that holds pages of items. */
export interface PageFile {
  rows: number;
  /** End of its last row. */
  bytes: number;
  /** When its last page was read, ISO 8601. */
  readAt: string;
}

/** Pages of a kind that have landed. */
export interface ItemPages {
  rows: bigint;
  pages: number;
  /** By name, in the order in which they were begun. */
  files: ReadonlyMap<string, PageFile>;
}

export type PagesByKind = Readonly<Record<PageKind, ItemPages>>;

const NONE: ItemPages = { rows: 0n, pages: 0, files: new Map() };
/** The entries that name a page of items. */
export type PageEntry = Extract<RunEntry, { type: `${PageKind}.page` }>;

export function isPage(entry: RunEntry): entry is PageEntry {
  return PAGE_KINDS.some((kind) => entry.type === `${kind}.page`);
}

export const PAGES: Part<PagesByKind> = {
  start: { hydrate: NONE, poll: NONE, listing: NONE, sample: NONE, products: NONE },
  step(pages, entry) {
    if (!isPage(entry)) return pages;
    const kind = entry.type.slice(0, -'.page'.length) as PageKind;
    const before = pages[kind];
    const { file, end: bytes, readAt } = entry;
    const landed = { rows: (before.files.get(file)?.rows ?? 0) + entry.rows, bytes, readAt };
    const files = new Map(before.files).set(file, landed);
    return { ...pages, [kind]: { rows: before.rows + BigInt(entry.rows), pages: before.pages + 1, files } };
  },
};

/** Bytes of all files of some pages. */
export function countBytes({ files }: ItemPages): number {
  return [...files.values()].reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Items of a part that were polled. */
export interface PolledPart {
  /** Pages of the last round of all its items. */
  wholePages: number;
  /** True if a round of all its items has ended, even without a page. */
  isWhole: boolean;
  /** The round that was begun last. `since` is null if it reads all items. */
  round: { since: string | null; newest: string | null; pages: number; rows: bigint };
  /** False again when a round was begun since. */
  isDone: boolean;
  /** Files that hold its pages. */
  files: readonly string[];
}

export type Polls = ReadonlyMap<Dataset, PolledPart>;

const NO_ROUND = { since: null, newest: null, pages: 0, rows: 0n };
const NO_POLL: PolledPart = { wholePages: 0, isWhole: false, round: NO_ROUND, isDone: false, files: [] };

function foldPoll(part: PolledPart, entry: EntryOf<'poll.round' | 'poll.page' | 'poll.done'>): PolledPart {
  const { round, files } = part;
  if (entry.type === 'poll.done') return { ...part, isWhole: part.isWhole || round.since === null, isDone: true };
  if (entry.type === 'poll.round') {
    const { since, newest } = entry;
    const wholePages = since === null ? 0 : part.wholePages;
    const isWhole = since !== null && part.isWhole;
    return { ...part, wholePages, isWhole, round: { since, newest, pages: 0, rows: 0n }, isDone: false };
  }
  return {
    ...part,
    wholePages: part.wholePages + (round.since === null ? 1 : 0),
    round: { ...round, pages: round.pages + 1, rows: round.rows + BigInt(entry.rows) },
    isDone: false,
    files: files.includes(entry.file) ? files : [...files, entry.file],
  };
}

export const POLLS: Part<Polls> = {
  start: new Map(),
  step(polls, entry) {
    if (entry.type !== 'poll.round' && entry.type !== 'poll.page' && entry.type !== 'poll.done') return polls;
    return new Map(polls).set(entry.dataset, foldPoll(polls.get(entry.dataset) ?? NO_POLL, entry));
  },
};

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
  /** True if changed items are read whole whatever the changes say. */
  isDistrusted: boolean;
}

export const HYDRATION: Part<Hydration> = {
  start: { pages: new Map(), hasLists: false, hasSingles: false, isReadAgain: false, isDistrusted: false },
  step(hydration, entry) {
    if (entry.type === 'hydrate.again') return { ...hydration, isReadAgain: true };
    if (entry.type === 'partial') return { ...hydration, isDistrusted: true };
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
  },
};

/** Websites that were asked when they were seen last. */
export interface Probes {
  /** By website: the source of the item that was seen last, and when, ISO 8601. */
  sites: ReadonlyMap<bigint, { source: bigint; seenAt: string } | undefined>;
  isDone: boolean;
}

export const PROBES: Part<Probes> = {
  start: { sites: new Map(), isDone: false },
  step(probes, entry) {
    if (entry.type === 'probe.done') return { ...probes, isDone: true };
    if (entry.type !== 'probe.site') return probes;
    const { site, source, seenAt } = entry;
    const found = source === null || seenAt === null ? undefined : { source, seenAt };
    return { ...probes, sites: new Map(probes.sites).set(site, found) };
  },
};

/** Answers that are compared with the lake; undefined until they have landed. */
export interface Comparisons {
  /** Items of the sample that the service does not show. */
  missing: readonly bigint[] | undefined;
  /** True for all products, false for a page of them. */
  allProducts: boolean | undefined;
  /** Answer of /facets. */
  facets: string | undefined;
}

export const COMPARISONS: Part<Comparisons> = {
  start: { missing: undefined, allProducts: undefined, facets: undefined },
  step(comparisons, entry) {
    if (entry.type === 'sample.done') return { ...comparisons, missing: entry.missing };
    if (entry.type === 'products.done') return { ...comparisons, allProducts: entry.whole };
    return entry.type === 'facets' ? { ...comparisons, facets: entry.answer } : comparisons;
  },
};

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

export const WATERMARK: Part<LowWatermark | undefined> = {
  start: undefined,
  step: (watermark, entry) => (entry.type === 'watermark' ? readWatermark(entry) : watermark),
};

function readWatermark({ items, at, ...entry }: EntryOf<'watermark'>): LowWatermark {
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
