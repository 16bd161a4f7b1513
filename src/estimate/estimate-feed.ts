import type { DatasetPart } from '../extract/dataset-client.js';
import { readNewestChange } from '../extract/feed.js';
import { type FeedPage, readFeedPage, readItemId } from '../extract/page.js';
import { type Count, countPages, extrapolateChanges } from '../plan/estimate.js';
import { listSelectedParts } from '../run/dataset-selection.js';
import type { RunMode } from '../tables/table.js';
import type { Lookout } from './estimate-facts.js';

/** The changes that wait, and the first page of them. */
export interface WaitingFeed {
  changes: Count;
  body: Buffer | undefined;
  page: FeedPage | undefined;
}

const PAGE_LIMIT = 1_000;

/**
 * Reads a page of the feed from where the run would (section 4, /changes); where more waits, its newest change, too. Of
 * several datasets, a page each, unless no change is newer than the lake.
 */
export async function lookAtFeed(lookout: Lookout, mode: RunMode, added: readonly bigint[]): Promise<WaitingFeed> {
  const { client, journal, tables, pipeline, selection } = lookout;
  const known = tables.history.applied.cursor;
  const parts = listSelectedParts(client, selection);
  // A first run without the history before it begins at the newest change.
  if (known === undefined && mode === 'snapshot' && pipeline.source.history !== 'feed') {
    return { ...NO_CHANGES, changes: { count: 0n, exact: false, morePages: parts.length > 1 ? parts.length : 0 } };
  }
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) {
    return lookAtPart(only, journal?.last('feed.page')?.nextCursor ?? startOf(lookout, only, added));
  }
  const isNews = added.length > 0 || known === undefined || ((await readNewestChange(client)) ?? 0n) > known;
  if (!isNews) return NO_CHANGES;
  const waiting: WaitingFeed[] = [];
  for (const part of parts) {
    const landed = journal?.all('feed.page').findLast(({ dataset }) => dataset === part.dataset)?.nextCursor;
    waiting.push(await lookAtPart(part, landed ?? startOf(lookout, part, added)));
  }
  const first = waiting.find(({ changes }) => changes.count > 0n);
  const count = waiting.reduce((sum, { changes }) => sum + changes.count, 0n);
  const pages = waiting.reduce((sum, one) => sum + countPages(one.changes.count), 0);
  const exact = waiting.every(({ changes }) => changes.exact);
  const changes = { count, exact, morePages: 1 + pages - countPages(count) };
  return { changes, body: first?.body, page: first?.page };
}

const NO_CHANGES: WaitingFeed = { changes: { count: 0n, exact: true }, body: undefined, page: undefined };

/** Behind which change the run would begin. */
function startOf({ tables, pipeline }: Lookout, { dataset }: DatasetPart, added: readonly bigint[]): bigint {
  const known = tables.history.applied.cursor ?? 0n;
  const isNew = dataset === undefined ? added.length > 0 : added.includes(dataset);
  return isNew && pipeline.source.history === 'feed' ? 0n : known;
}

async function lookAtPart({ client }: DatasetPart, after: bigint): Promise<WaitingFeed> {
  const { body } = await client.bytes('/changes', { after, limit: PAGE_LIMIT });
  const page = readFeedPage(body, after);
  const rows = BigInt(page.changes.length);
  const [first] = page.changes;
  const waiting = { body, page };
  if (!page.hasMore || first === undefined) return { ...waiting, changes: { count: rows, exact: true } };
  const ids = { first: readItemId(body, first), last: page.nextCursor, rows };
  const newest = (await readNewestChange(client)) ?? page.nextCursor;
  return { ...waiting, changes: { count: extrapolateChanges(ids, newest), exact: false } };
}
