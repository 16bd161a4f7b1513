import { isHydrationExport } from './exports.js';
import type { Dataset, EntryOf, Part, RunEntry } from './run-entry.js';

export const PAGE_KINDS = ['hydrate', 'poll', 'listing', 'sample', 'products'] as const;
export type PageKind = (typeof PAGE_KINDS)[number];

export interface PageFile {
  rows: number;
  /** The offset after its last row, in bytes. */
  bytes: number;
  readAt: string;
}

export interface ItemPages {
  rows: bigint;
  pages: number;
  /** Keyed by file name, in the order in which the files were created. */
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
  /** True if a round over all items has ended, even if it had no pages. */
  isWhole: boolean;
  /** The latest round. `since` is null if it reads all items. */
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

/** Full reads of items whose changes don't contain all new values. */
export interface Hydration {
  pages: ReadonlyMap<Dataset, ReadonlySet<number>>;
  /** True if items came from pages or an export, so items read individually may be newer. */
  hasLists: boolean;
  /** True if items were read individually, because pages wouldn't have saved calls. */
  hasSingles: boolean;
  /** True if items were read again, because pages showed older values than the feed. */
  isReadAgain: boolean;
  /** True if all changed items are read in full, because `changes` in the feed may omit values. */
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

/** The websites that were asked for the newest time at which an item was seen. */
export interface Probes {
  /** For each website, the source of its most recently seen item, and when (ISO 8601); undefined without items. */
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

/** Responses to compare with the lake; undefined until they are downloaded. */
export interface Comparisons {
  /** The sampled items that the service doesn't have. */
  missing: readonly bigint[] | undefined;
  /** True if all products were read, false for a single page. */
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

/** The state of the service before full rows are read. Changes that those rows may lack happened later. */
export interface LowWatermark {
  /** The newest change in the feed. All rows that are read later include it. Undefined if the plan has no feed. */
  cursor: bigint | undefined;
  /** The id after which the last hour of changes starts; undefined if the feed is read from further back. */
  from: bigint | undefined;
  /** The time of the newest change of any item (ISO 8601); undefined if there are no items. */
  changedAt: string | undefined;
  /** The number of items, including removed ones. An item in several datasets counts once in each. */
  items: bigint;
  /** The number of items in each dataset that was counted. */
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
  // Items outside the counted datasets aren't in the journal, so they are the difference.
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
