import type { Dataset, EntryOf, Part, RunEntry } from './run-entry.js';

export interface FeedProgress {
  nextCursor: bigint;
  hasMore: boolean;
  /** The number of changes on the last page that was read. */
  rows: number;
  /** True if the last page was read after the latest entry `feed.bound`, or if the run has no such entry. */
  isSinceBound: boolean;
  /** The cursor at the end of this dataset's feed; undefined until the end is reached. */
  end: bigint | undefined;
}

export interface Feed {
  changes: number;
  /** The number of changes whose item is null. */
  unnamed: number;
  bytes: number;
  /** The number of changes on the longest page so far. */
  longest: number;
  parts: ReadonlyMap<Dataset, FeedProgress>;
  /** The cursors at which the run started or restarted reading a feed. */
  starts: readonly bigint[];
  /** The newest change when the run started reading the feeds of several datasets. */
  bound: { newest: bigint; at: string; isOfThisTry: boolean } | undefined;
  /** The cursor up to which the feed was read; undefined until reading ends. */
  done: Pick<EntryOf<'feed.done'>, 'cursor' | 'complete' | 'at'> | undefined;
}

export const FEED: Part<Feed> = {
  start: {
    ...{ changes: 0, unnamed: 0, bytes: 0, longest: 0, parts: new Map(), starts: [] },
    ...{ bound: undefined, done: undefined },
  },
  step: foldFeed,
};

function foldFeed(feed: Feed, entry: RunEntry): Feed {
  switch (entry.type) {
    case 'try':
      return feed.bound === undefined ? feed : { ...feed, bound: { ...feed.bound, isOfThisTry: false } };
    case 'feed.bound': {
      const { newest, at } = entry;
      const parts = [...feed.parts].map(([dataset, part]) => {
        return [dataset, { ...part, isSinceBound: false, end: undefined }] as const;
      });
      return { ...feed, bound: { newest, at, isOfThisTry: true }, parts: new Map(parts) };
    }
    case 'feed.page':
      return addPage(feed, entry);
    case 'feed.part': {
      const { dataset, cursor } = entry;
      const part = feed.parts.get(dataset) ?? { nextCursor: cursor, hasMore: false, rows: 0, isSinceBound: true };
      return { ...feed, parts: new Map(feed.parts).set(dataset, { ...part, end: cursor }) };
    }
    case 'feed.done':
      return { ...feed, done: entry };
    default:
      return feed;
  }
}

function addPage(feed: Feed, { dataset, after, nextCursor, hasMore, ...page }: EntryOf<'feed.page'>): Feed {
  const before = feed.parts.get(dataset);
  return {
    ...feed,
    changes: feed.changes + page.rows,
    unnamed: feed.unnamed + (page.unnamed ?? 0),
    bytes: page.end,
    longest: Math.max(feed.longest, page.rows),
    parts: new Map(feed.parts).set(dataset, {
      ...{ nextCursor, hasMore, rows: page.rows },
      ...{ isSinceBound: true, end: before?.end },
    }),
    starts: before?.nextCursor === after ? feed.starts : [...feed.starts, after],
  };
}
