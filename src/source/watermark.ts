import * as z from 'zod';
import type { ApiClient } from '../api/client.js';
import { int64 } from '../api/wire-types.js';
import type { Io } from '../io/io.js';
import type { Landing } from '../journal/landings.js';
import type { LowWatermark } from '../journal/reads.js';
import { LAG_MS } from '../tables/table.js';
import type { DatasetPart } from './dataset-client.js';
import { readNewestChange } from './feed.js';

const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'not a date-time');
const newestItem = z.looseObject({
  content: z.array(z.looseObject({ lastChangedAt: time })),
  totalElements: int64,
});

/**
 * Journals the low watermark, which consists of the feed's newest change (API §4, /changes/recent) and the latest time
 * at which any item changed (/items by `-lastChanged`). One time is enough for all datasets, because polls start an
 * hour before this time.
 * @param client sends requests without a dataset
 * @param feed `new` if the feed is read only from shortly before the low watermark
 */
export async function landLowWatermark(
  client: ApiClient,
  landing: Landing,
  parts: readonly DatasetPart[],
  feed: 'none' | 'known' | 'new',
  io: Io,
): Promise<LowWatermark> {
  const { journal } = landing;
  if (journal.state.watermark === undefined) {
    const asked = parts.length === 1 && parts[0] !== undefined ? parts[0].client : client;
    const { newest: cursor, from } = await readNewest(asked, feed);
    const counts: { dataset: bigint; items: bigint }[] = [];
    let changedAt: string | null = null;
    let items = 0n;
    for (const part of parts) {
      const newest = await part.client.json('/items', { status: 'all', sort: '-lastChanged', size: 1 }, newestItem);
      const at = newest.content[0]?.lastChangedAt;
      if (at !== undefined && (changedAt === null || Date.parse(at) > Date.parse(changedAt))) changedAt = at;
      items += newest.totalElements;
      if (part.dataset !== undefined) counts.push({ dataset: part.dataset, items: newest.totalElements });
    }
    const lowWatermark = {
      cursor,
      ...(from === undefined ? {} : { from }),
      changedAt,
      items,
      ...(counts.length === 0 ? {} : { counts }),
      at: io.now().toISOString(),
    };
    await journal.append({ type: 'watermark', ...lowWatermark, calls: client.calls() });
    io.log('debug', 'landed', { what: 'watermark', cursor, changedAt, items });
  }
  const { watermark: landed } = journal.state;
  if (landed === undefined) throw new Error('the low watermark was journaled');
  return landed;
}

async function readNewest(
  client: ApiClient,
  feed: 'none' | 'known' | 'new',
): Promise<{ newest: bigint | null; from?: bigint }> {
  if (feed === 'none') return { newest: null };
  return feed === 'new' ? findRecentWindow(client) : { newest: (await readNewestChange(client)) ?? 0n };
}

const PAGE_LIMIT = 200;
/**
 * The maximum number of pages of recent changes to read. If the last hour has more changes, a shorter time is used. It
 * is enough, because later runs read these changes again.
 */
const MOST_PAGES = 25;

/** Parses only the needed fields. An invalid value in another field then can't stop a run. */
const recentPage = z.looseObject({
  changes: z.array(z.looseObject({ id: int64, observedAt: z.string().optional() })),
  hasMore: z.boolean().optional(),
});

type RecentPage = z.output<typeof recentPage>;

/** The newest change in the feed, and the cursor at the start of the feed's last hour. */
export interface RecentWindow {
  newest: bigint;
  from: bigint;
}

/**
 * Finds the feed's cursor an hour before its newest change (API §4, /changes/recent). The changes of this hour are
 * applied to complete rows, because these rows may lag behind the feed and lack the changes.
 */
export async function findRecentWindow(client: ApiClient): Promise<RecentWindow> {
  const page = await client.json('/changes/recent', { limit: PAGE_LIMIT }, recentPage);
  const [newest] = page.changes;
  if (newest === undefined) return { newest: 0n, from: 0n };
  return { newest: newest.id, from: await findStart(client, page, newest) };
}

async function findStart(client: ApiClient, first: RecentPage, newest: RecentPage['changes'][number]): Promise<bigint> {
  const since = Date.parse(newest.observedAt ?? '') - LAG_MS;
  let oldest = newest.id + 1n;
  let page = first;
  for (let pages = 1; ; pages++) {
    const older = page.changes.find(({ observedAt }) => Date.parse(observedAt ?? '') < since);
    if (older !== undefined) return older.id;
    const last = page.changes.at(-1)?.id;
    // The service returns no older changes, so the cursor is just before the oldest change received.
    if (last === undefined || last >= oldest) return oldest - 1n;
    if (page.hasMore !== true) return last - 1n;
    if (pages === MOST_PAGES) return last;
    oldest = last;
    page = await client.json('/changes/recent', { limit: PAGE_LIMIT, before: oldest }, recentPage);
  }
}
