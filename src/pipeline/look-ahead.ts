import { z } from 'zod';
import { int64 } from '../api/contract.js';
import { countListed } from '../extract/count-items.js';
import type { Ahead, Count } from '../extract/estimate.js';
import { planShards } from '../extract/plan-shards.js';
import type { JournalEntry } from '../landing/journal.js';
import type { RunMode } from '../model.js';
import { isComparisonWorthIt } from './count-usage.js';
import { reachBack, readPollStart } from './extract-run.js';
import { lookAtFeed } from './look-at-feed.js';
import { lookAtNeeds } from './look-at-needs.js';
import type { Lookout } from './lookout.js';
import { hasFeed, type PlannedRun } from './read-plan.js';

const NOTHING: Ahead = {
  plan: false,
  fence: undefined,
  exports: undefined,
  changedItems: undefined,
  changes: undefined,
  hydration: undefined,
  datasets: 0,
  products: 0,
  sample: 0,
  countsUsage: () => false,
};

/** What lies before a run in `mode`, beside what its earlier tries have landed. */
export async function lookAhead(lookout: Lookout, planned: PlannedRun, mode: RunMode): Promise<Ahead> {
  const { journal } = lookout;
  const has = (type: JournalEntry['type']) => journal?.last(type) !== undefined;
  if (has('usage.after') || has('held')) return NOTHING;
  const withFeed = hasFeed(planned.plan);
  const whole = mode === 'feed' ? NO_ROWS : await lookAtWholeRows(lookout, planned, mode);
  const feed = withFeed && !has('feed.done') ? await lookAtFeed(lookout, mode) : undefined;
  const hydration = feed === undefined || mode !== 'feed' ? undefined : await lookAtNeeds(lookout, planned, feed);
  const isIdle = journal === undefined && mode !== 'snapshot' && !isAny(feed?.changes) && !isAny(whole.changedItems);
  return {
    plan: true,
    fence: mode === 'feed' || has('fence') ? undefined : (withFeed ? 2 : 1) + whole.counts,
    exports: whole.exports,
    changedItems: whole.changedItems,
    changes: feed?.changes,
    hydration,
    datasets: has('datasets') || (isIdle && mode === 'feed') ? 0 : 1,
    products: isIdle ? 0 : await countProductCalls(lookout),
    sample: isIdle || has('sample.done') ? 0 : lookout.pipeline.proof.sample,
    countsUsage: (calls, rows) =>
      !isIdle && (planned.plan.usage ?? null) !== null && isComparisonWorthIt(calls, rows > 0n),
  };
}

function isAny(count: Count | undefined): boolean {
  return count !== undefined && count.count > 0n;
}

const counted = z.looseObject({ totalElements: int64 });

async function countItems({ client }: Lookout, query: Record<string, string>): Promise<bigint> {
  return (await client.json('/items', { status: 'all', ...query, size: 1 }, counted)).totalElements;
}

interface WholeRows {
  exports?: Ahead['exports'];
  changedItems?: Count | undefined;
  /** Calls that count the items of each website. */
  counts: number;
}

const NO_ROWS: WholeRows = { counts: 0 };

async function lookAtWholeRows(lookout: Lookout, planned: PlannedRun, mode: RunMode): Promise<WholeRows> {
  if (mode === 'poll') return { counts: 0, changedItems: await countChangedItems(lookout) };
  const { journal, client, pipeline } = lookout;
  const splitAbove = BigInt(pipeline.source.splitAbove);
  const begun = journal?.last('shards')?.shards;
  const items = begun === undefined ? (journal?.last('fence')?.items ?? (await countItems(lookout, {}))) : 0n;
  const listed = items > splitAbove ? await countListed(client) : undefined;
  const shards = begun ?? planShards({ items, listed }, planned.gate.left(), splitAbove).shards;
  const done = new Set(journal?.all('export.done').map(({ shard }) => shard));
  const missing = shards.filter(({ name }) => !done.has(name));
  const rows = missing.reduce((sum, shard) => sum + shard.rows, 0n);
  const isPolled = shards.length > 1 && journal?.last('poll.done') === undefined;
  return {
    counts: listed === undefined ? 0 : 2,
    ...(missing.length === 0 ? {} : { exports: { calls: missing.length, rows } }),
    // What moves between the shards meanwhile: mostly a page.
    ...(isPolled ? { changedItems: { count: 0n, exact: false } } : {}),
  };
}

async function countChangedItems(lookout: Lookout): Promise<Count | undefined> {
  const { journal } = lookout;
  if (journal?.last('poll.done') !== undefined) return undefined;
  const since = journal?.last('poll.round')?.since ?? reachBack(await readPollStart(lookout));
  const landed = journal?.all('poll.page').reduce((sum, page) => sum + BigInt(page.rows), 0n) ?? 0n;
  const changed = await countItems(lookout, { changedSince: since });
  return { count: changed > landed ? changed - landed : 0n, exact: true };
}

const PRODUCTS_A_PAGE = 200n;

async function countProductCalls({ client, pipeline, journal }: Lookout): Promise<number> {
  if (journal?.last('products.done') !== undefined) return 0;
  if (pipeline.source.products !== 'all') return pipeline.proof.products ? 1 : 0;
  const { totalElements } = await client.json('/products', { size: 1 }, counted);
  const landed = BigInt(journal?.all('products.page').length ?? 0);
  const pages = (totalElements + PRODUCTS_A_PAGE - 1n) / PRODUCTS_A_PAGE;
  return Math.max(1, Number(pages - landed));
}
