import path from 'node:path';
import type { ApiClient } from '../api/client.js';
import type { Io } from '../io.js';
import type { JournalEntry } from '../landing/journal.js';
import type { Landing } from '../landing/landing.js';
import { PageFile } from '../landing/page-file.js';
import { readFeedPage } from './page.js';

export const FEED_FILE = 'feed.ndjson';
const PAGE_LIMIT = 1000;

/** What of the feed is landed. */
export interface LandedFeed {
  file: string;
  changes: number;
  bytes: number;
  cursor: bigint;
}

/**
 * Pulls the feed from `from` until nothing more waits (section 4, /changes); pages land raw.
 * A run that was interrupted goes on behind the last page that its journal names.
 */
export async function landFeed(client: ApiClient, landing: Landing, from: bigint, io: Io): Promise<LandedFeed> {
  const { journal } = landing;
  if (journal.last('feed.done') === undefined) {
    const cursor = await pullPages(client, landing, from, io);
    await journal.append({ type: 'feed.done', cursor, calls: client.calls() });
    io.log('debug', 'landed', { what: 'feed', cursor });
  }
  const pages = journal.all('feed.page');
  return {
    file: path.join(landing.folder, FEED_FILE),
    changes: pages.reduce((sum, page) => sum + page.rows, 0),
    bytes: pages.at(-1)?.end ?? 0,
    cursor: journal.last('feed.done')?.cursor ?? from,
  };
}

async function pullPages(client: ApiClient, landing: Landing, from: bigint, io: Io): Promise<bigint> {
  const last = landing.journal.last('feed.page');
  const file = await PageFile.open(path.join(landing.folder, FEED_FILE), last?.end ?? 0);
  const saver = new PageSaver(file, landing);
  let cursor = last?.nextCursor ?? from;
  let hasMore = last?.hasMore ?? true;
  let rows = BigInt(landing.journal.all('feed.page').reduce((sum, page) => sum + page.rows, 0));
  let bytes = last?.end ?? 0;
  try {
    while (hasMore) {
      const { body } = await client.bytes('/changes', { after: cursor, limit: PAGE_LIMIT });
      const page = readFeedPage(body, cursor);
      if (page.changes > 0) {
        bytes = await file.append(body);
        rows += BigInt(page.changes);
        const { hasMore: more, nextCursor } = page;
        await saver.save({
          type: 'feed.page',
          after: cursor,
          nextCursor,
          hasMore: more,
          rows: page.changes,
          end: bytes,
          calls: client.calls(),
        });
      }
      cursor = page.nextCursor;
      hasMore = page.hasMore;
      io.progress({ step: 'feed', rows, bytes, done: !hasMore });
    }
    return cursor;
  } finally {
    await saver.close();
  }
}

/** Syncs pages and then names them in the journal, while the next page is already on its way. */
class PageSaver {
  readonly #file: PageFile;
  readonly #landing: Landing;
  #waiting: JournalEntry[] = [];
  #running: Promise<void> | undefined;
  #error: unknown;

  constructor(file: PageFile, landing: Landing) {
    this.#file = file;
    this.#landing = landing;
  }

  async save(entry: JournalEntry): Promise<void> {
    if (this.#error !== undefined) throw this.#error;
    this.#waiting.push(entry);
    this.#running ??= this.#drain();
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting;
        this.#waiting = [];
        await this.#file.sync();
        await this.#landing.journal.append(...batch);
      }
    } catch (error) {
      this.#error = error;
    } finally {
      this.#running = undefined;
    }
  }

  async close(): Promise<void> {
    await this.#running;
    await this.#file.close();
    if (this.#error !== undefined) throw this.#error;
  }
}
