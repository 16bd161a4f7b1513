import path from 'node:path';
import type { ApiClient } from '../api/client.js';
import type { Io } from '../io.js';
import type { Landing } from '../landing/landing.js';
import { RowFile } from '../landing/row-file.js';
import { readFeedPage } from './page.js';

export const FEED_FILE = 'feed.ndjson';
const PAGE_LIMIT = 1000;

/** What of the feed is landed. */
export interface LandedFeed {
  file: string;
  changes: number;
  bytes: number;
  cursor: bigint;
  /** False when the plan lost the feed before its end was reached. */
  complete: boolean;
  /** When its end was reached, ISO 8601. */
  at: string;
}

/**
 * Pulls the feed from `from` until nothing more waits (section 4, /changes); each change lands as it came, a line each.
 * A run that was interrupted goes on behind the last page that its journal names. Without the feed, what has landed of
 * it is all there will be; undefined when that is nothing.
 */
export async function landFeed(
  client: ApiClient,
  landing: Landing,
  from: bigint,
  hasFeed: boolean,
  io: Io,
): Promise<LandedFeed | undefined> {
  const { journal } = landing;
  if (journal.last('feed.done') === undefined) {
    const last = journal.last('feed.page');
    if (!hasFeed && last === undefined) return undefined;
    const cursor = hasFeed || last === undefined ? await pullPages(client, landing, from, io) : last.nextCursor;
    const at = io.now().toISOString();
    await journal.append({ type: 'feed.done', cursor, complete: hasFeed, at, calls: client.calls() });
    io.log('debug', 'landed', { what: 'feed', cursor });
  }
  const pages = journal.all('feed.page');
  const done = journal.last('feed.done');
  return {
    file: path.join(landing.folder, FEED_FILE),
    changes: pages.reduce((sum, page) => sum + page.rows, 0),
    bytes: pages.at(-1)?.end ?? 0,
    cursor: done?.cursor ?? from,
    complete: done?.complete ?? false,
    at: done?.at ?? '',
  };
}

async function pullPages(client: ApiClient, landing: Landing, from: bigint, io: Io): Promise<bigint> {
  const { journal } = landing;
  const last = journal.last('feed.page');
  const file = await RowFile.open(path.join(landing.folder, FEED_FILE), journal, last?.end ?? 0);
  let cursor = last?.nextCursor ?? from;
  let hasMore = last?.hasMore ?? true;
  let rows = BigInt(journal.all('feed.page').reduce((sum, page) => sum + page.rows, 0));
  let bytes = last?.end ?? 0;
  try {
    while (hasMore) {
      const { body } = await client.bytes('/changes', { after: cursor, limit: PAGE_LIMIT });
      const page = readFeedPage(body, cursor);
      const { changes, nextCursor } = page;
      if (changes.length > 0) {
        const entry = { after: cursor, nextCursor, hasMore: page.hasMore, rows: changes.length, calls: client.calls() };
        bytes = await file.land(body, changes, (end) => ({ type: 'feed.page', ...entry, end }));
        rows += BigInt(changes.length);
      }
      cursor = nextCursor;
      hasMore = page.hasMore;
      io.progress({ step: 'feed', rows, bytes, done: !hasMore });
    }
    return cursor;
  } finally {
    await file.close();
  }
}
