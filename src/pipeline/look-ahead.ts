import { z } from 'zod';
import { int64 } from '../api/contract.js';
import type { PricelakeError } from '../errors.js';
import type { Ahead, Count } from '../extract/estimate.js';
import type { JournalEntry } from '../landing/journal.js';
import type { RunMode } from '../model.js';
import { isComparisonWorthIt } from './count-usage.js';
import { lookAtFeed } from './look-at-feed.js';
import { lookAtItems, NO_ITEMS } from './look-at-items.js';
import { lookAtNeeds } from './look-at-needs.js';
import type { Lookout } from './lookout.js';
import { hasFeed, type PlannedRun } from './read-plan.js';

/** What lies ahead, and why it would not be begun. */
export interface Outlook {
  ahead: Ahead;
  refusal: PricelakeError | undefined;
}

const NOTHING: Ahead = {
  plan: false,
  fence: undefined,
  exports: undefined,
  pages: undefined,
  changedItems: undefined,
  changes: undefined,
  hydration: undefined,
  datasets: 0,
  facets: 0,
  products: 0,
  sample: 0,
  countsUsage: () => false,
};

/** What lies before a run in `mode`, beside what its earlier tries have landed. */
export async function lookAhead(lookout: Lookout, planned: PlannedRun, mode: RunMode): Promise<Outlook> {
  const { journal } = lookout;
  const has = (type: JournalEntry['type']) => journal?.last(type) !== undefined;
  if (has('usage.after') || has('held')) return { ahead: NOTHING, refusal: undefined };
  const withFeed = hasFeed(planned.plan);
  const whole = mode === 'feed' ? NO_ITEMS : await lookAtItems(lookout, planned, mode);
  const feed = withFeed && !has('feed.done') ? await lookAtFeed(lookout, mode) : undefined;
  const hydration = feed === undefined || mode !== 'feed' ? undefined : await lookAtNeeds(lookout, planned, feed);
  const isIdle = journal === undefined && mode !== 'snapshot' && !isAny(feed?.changes) && !isAny(whole.changedItems);
  const ahead: Ahead = {
    plan: true,
    fence: mode === 'feed' || has('fence') ? undefined : (withFeed ? 2 : 1) + whole.counts,
    exports: whole.exports,
    pages: whole.pages,
    changedItems: whole.changedItems,
    changes: feed?.changes,
    hydration,
    datasets: has('datasets') || (isIdle && mode === 'feed') ? 0 : 1,
    facets: mode === 'snapshot' && lookout.pipeline.proof.facets && !has('facets') ? 1 : 0,
    products: isIdle ? 0 : await countProductCalls(lookout),
    sample: isIdle || has('sample.done') ? 0 : lookout.pipeline.proof.sample,
    countsUsage: (calls, rows) =>
      !isIdle && (planned.plan.usage ?? null) !== null && isComparisonWorthIt(calls, rows > 0n),
  };
  return { ahead, refusal: whole.refusal };
}

function isAny(count: Count | undefined): boolean {
  return count !== undefined && count.count > 0n;
}

const counted = z.looseObject({ totalElements: int64 });
const PRODUCTS_A_PAGE = 200n;

async function countProductCalls({ client, pipeline, journal }: Lookout): Promise<number> {
  if (journal?.last('products.done') !== undefined) return 0;
  if (pipeline.source.products !== 'all') return pipeline.proof.products ? 1 : 0;
  const { totalElements } = await client.json('/products', { size: 1 }, counted);
  const landed = BigInt(journal?.all('products.page').length ?? 0);
  const pages = (totalElements + PRODUCTS_A_PAGE - 1n) / PRODUCTS_A_PAGE;
  return Math.max(1, Number(pages - landed));
}
