import type { ApiClient } from '../api/client.js';
import { type DatasetPart, listParts } from '../extract/dataset-client.js';
import { readNewestChange } from '../extract/feed.js';
import { type FeedPage, readFeedPage, readItemId } from '../extract/page.js';
import { type Count, countPages, extrapolateChanges, sumCounts } from '../plan/estimate.js';
import type { FeedStart } from '../plan/plan-run.js';
import type { EstimateSource } from './estimate-source.js';

/** The changes that wait, and the first page of them. */
export interface WaitingFeed {
  changes: Count;
  body?: Buffer;
  page?: FeedPage;
}

const PAGE_LIMIT = 1_000;

/**
 * Reads a page of the feed from where the run would (section 4, /changes); where more waits, its newest change as well. Of
 * several datasets, a page each, unless no change is newer than the lake.
 */
export async function estimateFeed(
  { client, journal }: Pick<EstimateSource, 'client' | 'journal'>,
  starts: readonly FeedStart[],
): Promise<WaitingFeed> {
  const isNew = starts.some(({ from }) => from === undefined);
  const isOne = starts.length === 1;
  if (!isOne && !isNew && !(await hasNews(client, starts))) return { changes: { count: 0n, calls: 1, exact: true } };
  const waiting: WaitingFeed[] = [];
  for (const { dataset, from } of starts) {
    const after = journal.state.feed.parts.get(dataset)?.nextCursor ?? from;
    const [part] = listParts(client, [dataset]);
    // It begins about where the feed ends when the run does.
    if (after === undefined || part === undefined) waiting.push({ changes: { count: 0n, calls: 1, exact: false } });
    else waiting.push(await readPart(part, after));
  }
  const [first] = waiting;
  if (isOne && first !== undefined) return first;
  // Where the feed is before several are read.
  const look: Count = { count: 0n, calls: 1, exact: true };
  const changes = sumCounts([look, ...waiting.map((one) => one.changes)]) ?? look;
  return { ...waiting.find(({ changes }) => changes.count > 0n), changes };
}

async function hasNews(client: ApiClient, starts: readonly FeedStart[]): Promise<boolean> {
  const newest = (await readNewestChange(client)) ?? 0n;
  return starts.some(({ from = 0n }) => newest > from);
}

async function readPart({ client }: DatasetPart, after: bigint): Promise<WaitingFeed> {
  const { body } = await client.bytes('/changes', { after, limit: PAGE_LIMIT });
  const page = readFeedPage(body, after);
  const rows = BigInt(page.changes.length);
  const count = (changes: bigint, exact: boolean): Count => ({ count: changes, calls: countPages(changes), exact });
  const [first] = page.changes;
  if (!page.hasMore || first === undefined) return { body, page, changes: count(rows, true) };
  const ids = { first: readItemId(body, first), last: page.nextCursor, rows };
  const newest = (await readNewestChange(client)) ?? page.nextCursor;
  return { body, page, changes: count(extrapolateChanges(ids, newest), false) };
}
