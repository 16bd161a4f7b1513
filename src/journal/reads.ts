import { isHydrationExport } from './exports.js';
import type { Dataset, EntryOf, Part, RunEntry } from './run-entry.js';

export const PAGE_KINDS = ['hydrate', 'poll', 'listing', 'sample', 'products'] as const;
export type PageKind = (typeof PAGE_KINDS)[number];

export interface PageFile {
  rows: number;
  /** The offset after the last row, in bytes. */
  bytes: number;
  readAt: string;
}

export interface ItemPages {
  rows: bigint;
  pages: number;
  /** The files by name, in the order in which they were created. */
  files: ReadonlyMap<string, PageFile>;
}

export type PagesByKind = Readonly<Record<PageKind, ItemPages>>;

const NONE: ItemPages = { rows: 0n, pages: 0, files: new Map() };
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

export function countBytes({ files }: ItemPages): number {
  return [...files.values()].reduce((sum, { bytes }) => sum + bytes, 0);
}

export interface PolledPart {
  wholePages: number;
  /** True if a round that reads all items has ended, even if there were no pages. */
  isWhole: boolean;
  /** The latest round of the poll. `since` is null if the round reads all items. */
  round: { since: string | null; newest: string | null; pages: number; rows: bigint };
  /** True if the latest round has ended. */
  isDone: boolean;
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
    // A round that reads all items has ended if another round follows it.
    const isWhole = since !== null && (part.isWhole || (part !== NO_POLL && round.since === null));
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

/** The items that were read in full because their changes don't contain all new values. */
export interface Hydration {
  pages: ReadonlyMap<Dataset, ReadonlySet<number>>;
  /** True if items were read from pages or an export. These may show older versions than reading single items. */
  hasLists: boolean;
  /** True if items were read one by one, because pages wouldn't have saved calls. */
  hasSingles: boolean;
  /** True if items were read again, because their rows on pages were older than the feed. */
  isReadAgain: boolean;
  /** True if all changed items are read in full, because the field `changes` in the feed may omit values. */
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

/** The most recently seen item of each website about which the run has asked the service. */
export interface Probes {
  /** For each website, the source and time (ISO 8601) of its most recently seen item; undefined if it has no items. */
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

/** The responses that will be compared with the lake; undefined until they are downloaded. */
export interface Comparisons {
  /** The ids of sampled items that the service doesn't find. */
  missing: readonly bigint[] | undefined;
  /** True if all pages of products were read; false if only one page was read. */
  allProducts: boolean | undefined;
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

/** The state of the service before the run reads complete rows. Shows which changes these rows may lack. */
export interface LowWatermark {
  /** The feed's newest change before complete rows were read; undefined if the plan excludes the feed. */
  cursor: bigint | undefined;
  /** The feed's cursor an hour before its newest change; undefined if the feed is read from an earlier change. */
  from: bigint | undefined;
  /** The newest time at which any item changed (ISO 8601); undefined if there are no items. */
  changedAt: string | undefined;
  /** The number of items, including removed items. An item in several datasets is counted once for each dataset. */
  items: bigint;
  /** The number of items by dataset, for the datasets that were counted. The key undefined has all other items. */
  counts: ReadonlyMap<Dataset, bigint>;
  at: string;
}

export const WATERMARK: Part<LowWatermark | undefined> = {
  start: undefined,
  step: (watermark, entry) => (entry.type === 'watermark' ? readWatermark(entry) : watermark),
};

function readWatermark({ items, at, ...entry }: EntryOf<'watermark'>): LowWatermark {
  const counts = new Map<Dataset, bigint>(entry.counts?.map((one) => [one.dataset, one.items]));
  const others = items - [...counts.values()].reduce((sum, count) => sum + count, 0n);
  // The journal has no count for items outside the counted datasets, so it is computed as the difference.
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
