import type { ApiClient } from '../../api/client.js';
import { ITEMS_A_PAGE } from '../../api/contract.js';
import type { Slice } from '../../formats/json-scan.js';
import type { Dataset } from '../../journal/run-entry.js';
import { explainBroken } from '../../plan/broken-exports.js';
import { countPages } from '../../plan/count-pages.js';
import type { CopyPlan, PollPlan } from '../../plan/plan-copy.js';
import type { FeedStart } from '../../plan/plan-run.js';
import type { RunFacts } from '../../plan/run-facts.js';
import { type DatasetPart, listParts } from '../../source/dataset-client.js';
import { countItems } from '../../source/datasets.js';
import { fetchFeedPage, readNewestChange } from '../../source/feed.js';
import { leaveOutSeen } from '../../source/feed-overlap.js';
import { mayBeCut, PAGE_LIMIT, recallPages } from '../../source/feed-pages.js';
import { type FeedPage, readFeedPage, readItemId } from '../../source/page.js';
import type { FeedOverlap } from '../../tables/cursor-window.js';
import type { Account } from '../open/account.js';
import { findRejectedChanges } from '../plan/read-overlap.js';
import type { FactSource } from '../plan/run-planner.js';
import { type Ahead, type Count, extrapolateChanges, sumCounts } from './estimate.js';

export function estimateCopy(facts: RunFacts, copy: CopyPlan, { gate }: Account): Pick<Ahead, 'exports' | 'pages'> {
  const { choice, datasets, items, missing, shards, exportRows } = copy;
  if (choice.route === 'pages') {
    const calls = datasets.reduce((sum, dataset) => sum + countPageCalls(facts, dataset), 0);
    return { exports: undefined, pages: calls === 0 ? undefined : { calls, items, reason: choice.reason } };
  }
  const calls = shards === undefined ? datasets.length : missing.length;
  const known = gate.memory.list();
  const [broken] = missing.flatMap(({ name }) => known.find((one) => one.name === name) ?? []);
  const note = broken && explainBroken(broken);
  return { exports: calls === 0 ? undefined : { calls, rows: exportRows, note }, pages: undefined };
}

function countPageCalls({ counts, landed }: RunFacts, dataset: Dataset): number {
  const { isDone = false, wholePages = 0 } = landed.polls.get(dataset) ?? {};
  if (isDone) return 0;
  const pages = countPages(counts?.get(dataset) ?? 0n, ITEMS_A_PAGE);
  // Adds a call that counts the items and, for several pages, a call for items that changed during the reading.
  return Math.max(0, pages - wholePages) + (pages > 1 ? 2 : 1);
}

export async function estimatePolls(
  client: ApiClient,
  { landed }: RunFacts,
  polls: readonly PollPlan[],
): Promise<Count | undefined> {
  const counts: Count[] = [];
  for (const { datasets, since, untilSettled, reopens } of polls) {
    for (const part of listParts(client, datasets)) {
      const polled = reopens ? undefined : landed.polls.get(part.dataset);
      if (polled?.isDone) continue;
      const changedSince = polled?.round.since ?? since;
      // Without `changedSince`, a poll looks for items that moved to another shard. It usually takes one page.
      const changed =
        changedSince === undefined ? 0n : await countItems(part.client, { changedSince: new Date(changedSince) });
      const { rows = 0n, pages = 0 } = polled?.round ?? {};
      counts.push({
        count: changed > rows ? changed - rows : 0n,
        calls: Math.max(1, countPages(changed, ITEMS_A_PAGE) - pages),
        exact: changedSince !== undefined && !untilSettled,
      });
    }
  }
  return sumCounts(counts);
}

/** The number of changes in the feed that the lake lacks, and the feed page that the estimate has read. */
export interface WaitingFeed {
  changes: Count;
  body?: Buffer;
  page?: Omit<FeedPage, 'changes'> & { changes: readonly Slice[] };
}

type FeedSource = Pick<FactSource, 'client' | 'journal' | 'graph' | 'before' | 'memory' | 'io'>;

/**
 * Requests the first feed page that the run would request (API §4, /changes). If more changes follow, also requests the
 * newest change. For several listed datasets, requests a page of each dataset's feed, unless the lake already has the
 * newest change.
 */
export async function estimateFeed(source: FeedSource, starts: readonly FeedStart[]): Promise<WaitingFeed> {
  const { client, journal } = source;
  const isNew = starts.some(({ from }) => from === undefined);
  const isOne = starts.length === 1;
  if (!isOne && !isNew && !(await hasNews(client, starts))) return { changes: { count: 0n, calls: 1, exact: true } };
  const waiting: WaitingFeed[] = [];
  for (const { dataset, from, overlap, watermark } of starts) {
    const after = journal.state.feed.parts.get(dataset)?.nextCursor ?? overlap?.after ?? from;
    const [part] = listParts(client, [dataset]);
    // If the run doesn't know its start yet, it starts shortly before the feed's end. One page is then enough.
    if (after === undefined || part === undefined) waiting.push({ changes: { count: 0n, calls: 1, exact: false } });
    else {
      const hasMark = isOne && watermark !== undefined;
      waiting.push(await readPart(source, { ...part, from: from ?? 0n, overlap, hasMark }, after));
    }
  }
  const [first] = waiting;
  if (isOne && first !== undefined) return first;
  // Adds the call for the newest change, which a run requests before it reads the feeds of several datasets.
  const look: Count = { count: 0n, calls: 1, exact: true };
  const changes = sumCounts([look, ...waiting.map((one) => one.changes)]) ?? look;
  return { ...waiting.find(({ changes }) => changes.count > 0n), changes };
}

async function hasNews(client: ApiClient, starts: readonly FeedStart[]): Promise<boolean> {
  const newest = (await readNewestChange(client)) ?? 0n;
  return starts.some(({ from = 0n }) => newest > from);
}

async function readPart(
  source: FeedSource,
  part: DatasetPart & { from: bigint; overlap: FeedOverlap | undefined; hasMark: boolean },
  start: bigint,
): Promise<WaitingFeed> {
  const { client, from } = part;
  const { body, after } = await fetchFeedPage(part, start);
  const page = readFeedPage(body, after);
  const findRejected = (ids: readonly bigint[]) => findRejectedChanges(source.graph, source.before, ids);
  const overlap = part.overlap && { ...part.overlap, findRejected };
  const changes = overlap === undefined ? page.changes : await leaveOutSeen({ body, ...page }, after, from, overlap);
  const rows = BigInt(page.changes.length);
  const seen = recallPages(source.memory.state, source.io.now());
  const isCut = mayBeCut({ ...page, rows: page.changes.length }, seen, part.hasMark);
  // A service may return smaller pages than requested, so this page's size is the estimate for later pages.
  const pageSize = (page.hasMore || isCut) && rows > 0n ? page.changes.length : PAGE_LIMIT;
  const count = (all: bigint, news: bigint): Count => ({
    count: news,
    calls: countPages(all, pageSize) + (isCut ? 1 : 0),
    exact: !page.hasMore && !isCut,
  });
  const news = BigInt(changes.length);
  const found = { body, page: { ...page, changes } };
  const [first] = page.changes;
  if (!(page.hasMore || isCut) || first === undefined) return { ...found, changes: count(rows, news) };
  const ids = { first: readItemId(body, first), last: page.nextCursor, rows };
  const newest = (await readNewestChange(client)) ?? page.nextCursor;
  const all = extrapolateChanges(ids, newest);
  const left = all - BigInt([...(overlap?.known ?? [])].filter((id) => id > after).length);
  return { ...found, changes: count(all, left > news ? left : news) };
}
