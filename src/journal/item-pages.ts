import type { RunEntry } from './run-entry.js';

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
export const NO_PAGES: PagesByKind = { hydrate: NONE, poll: NONE, listing: NONE, sample: NONE, products: NONE };

/** The entries that name a page of items. */
export type PageEntry = Extract<RunEntry, { type: `${PageKind}.page` }>;

export function isPage(entry: RunEntry): entry is PageEntry {
  return PAGE_KINDS.some((kind) => entry.type === `${kind}.page`);
}

export function foldPages(pages: PagesByKind, entry: RunEntry): PagesByKind {
  if (!isPage(entry)) return pages;
  const kind = entry.type.slice(0, -'.page'.length) as PageKind;
  return { ...pages, [kind]: addPage(pages[kind], entry) };
}

function addPage({ rows, pages, files }: ItemPages, page: PageEntry): ItemPages {
  const file = { rows: (files.get(page.file)?.rows ?? 0) + page.rows, bytes: page.end, readAt: page.readAt };
  return { rows: rows + BigInt(page.rows), pages: pages + 1, files: new Map(files).set(page.file, file) };
}

/** Bytes of all files of some pages. */
export function countBytes({ files }: ItemPages): number {
  return [...files.values()].reduce((sum, { bytes }) => sum + bytes, 0);
}
