import type { ApiClient } from '../../api/client.js';
import { type Count, countPages, extrapolateChanges, sumCounts } from '../../plan/estimate.js';
import type { FeedStart } from '../../plan/plan-run.js';
import { type DatasetPart, listParts } from '../../source/dataset-client.js';
import { readNewestChange } from '../../source/feed.js';
import { type FeedPage, readFeedPage, readItemId } from '../../source/page.js';
import type { FactSource } from './gather-facts.js';

/** The waiting changes, and the first page of them. */
export interface WaitingFeed {
  changes: Count;
  body?: Buffer;
  page?: FeedPage;
}

const PAGE_LIMIT = 1_000;

/**
 * Reads the page of the feed that the run would begin with (section 4, /changes), and if more waits, the newest change.
 * For a list of datasets, it reads a page of each, unless no change is newer than the lake.
 */
export async function estimateFeed(
  { client, journal }: Pick<FactSource, 'client' | 'journal'>,
  starts: readonly FeedStart[],
): Promise<WaitingFeed> {
  const isNew = starts.some(({ from }) => from === undefined);
  const isOne = starts.length === 1;
  if (!isOne && !isNew && !(await hasNews(client, starts))) return { changes: { count: 0n, calls: 1, exact: true } };
  const waiting: WaitingFeed[] = [];
  for (const { dataset, from } of starts) {
    const after = journal.state.feed.parts.get(dataset)?.nextCursor ?? from;
    const [part] = listParts(client, [dataset]);
    // Such a feed begins about where it ends, so one page brings all.
    if (after === undefined || part === undefined) waiting.push({ changes: { count: 0n, calls: 1, exact: false } });
    else waiting.push(await readPart(part, after));
  }
  const [first] = waiting;
  if (isOne && first !== undefined) return first;
  // A run asks for the newest change before it reads several feeds.
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
