import { z } from 'zod';
import { isComparisonWorthIt } from '../account/count-usage.js';
import { hasFeed, type PlannedRun } from '../account/read-plan.js';
import { int64 } from '../api/contract.js';
import type { PricelakeError } from '../errors/errors.js';
import { type DatasetPart, listParts } from '../extract/dataset-client.js';
import type { JournalEntry } from '../landing/journal-entry.js';
import type { ModeChoice } from '../plan/choose-mode.js';
import type { Ahead, Count } from '../plan/estimate.js';
import { listSelectedParts } from '../run/dataset-selection.js';
import type { Lookout } from './estimate-facts.js';
import { lookAtFeed } from './estimate-feed.js';
import { lookAtHistories } from './estimate-histories.js';
import { lookAtItems, NO_ITEMS } from './estimate-items.js';
import { lookAtListing } from './estimate-listing.js';
import { lookAtNeeds } from './estimate-needs.js';

/** What lies ahead, and why it would not be begun. */
export interface Outlook {
  ahead: Ahead;
  refusal: PricelakeError | undefined;
}

const NOTHING: Ahead = {
  plan: false,
  lowWatermark: undefined,
  exports: undefined,
  pages: undefined,
  changedItems: undefined,
  listing: undefined,
  changes: undefined,
  hydration: undefined,
  histories: undefined,
  datasets: 0,
  facets: 0,
  products: 0,
  sample: 0,
  countsUsage: () => false,
};

/** What lies before a run in `mode`, beside what its earlier tries have landed. */
export async function lookAhead(
  lookout: Lookout,
  planned: PlannedRun,
  { mode, added = [] }: Pick<ModeChoice, 'mode' | 'added'>,
): Promise<Outlook> {
  const { journal } = lookout;
  const has = (type: JournalEntry['type']) => journal?.last(type) !== undefined;
  if (has('usage.after') || has('held')) return { ahead: NOTHING, refusal: undefined };
  const withFeed = hasFeed(planned.plan);
  const parts = listSelectedParts(lookout.client, lookout.selection);
  const copied = mode === 'snapshot' ? parts : listParts(lookout.client, added);
  const isRead = mode !== 'feed' || added.length > 0;
  const whole = isRead ? await lookAtItems(lookout, planned, mode, copied) : NO_ITEMS;
  const feed = withFeed && !has('feed.done') ? await lookAtFeed(lookout, mode, added) : undefined;
  const hydration = feed === undefined || mode !== 'feed' ? undefined : await lookAtNeeds(lookout, planned, feed);
  const isIdle = journal === undefined && copied.length === 0 && !isAny(feed?.changes) && !isAny(whole.changedItems);
  const ahead: Ahead = {
    plan: true,
    lowWatermark: !isRead || has('watermark') ? undefined : countLowWatermark(lookout, copied, withFeed) + whole.counts,
    exports: whole.exports,
    pages: whole.pages,
    changedItems: whole.changedItems,
    listing: mode === 'poll' ? await lookAtListing(lookout, planned) : undefined,
    changes: feed?.changes,
    hydration,
    histories: await lookAtHistories(lookout, planned, whole),
    datasets: (has('datasets') || (isIdle && mode === 'feed') ? 0 : 1) + countChecks(lookout, isRead, added.length > 0),
    facets: mode === 'snapshot' && parts.length === 1 && lookout.pipeline.proof.facets && !has('facets') ? 1 : 0,
    products: isIdle ? 0 : await countProductCalls(lookout),
    sample: isIdle || has('sample.done') ? 0 : lookout.pipeline.proof.sample,
    countsUsage: (calls, rows) =>
      !isIdle && (planned.plan.usage ?? null) !== null && isComparisonWorthIt(calls, rows > 0n),
  };
  return { ahead, refusal: whole.refusal };
}

/** The newest change, and the items of each part: of those that are read by the feed alone, as well. */
function countLowWatermark({ client, selection }: Lookout, copied: readonly DatasetPart[], withFeed: boolean): number {
  const parts = new Set([...listSelectedParts(client, selection), ...copied].map(({ dataset }) => dataset));
  return (withFeed ? 1 : 0) + parts.size;
}

/** Calls that look which datasets the key can read: before those of a list are read, or where all are wanted by now. */
function countChecks({ selection, journal }: Lookout, isRead: boolean, hasAdded: boolean): number {
  if (journal?.last('watermark') !== undefined) return 0;
  return (selection !== 'all' && isRead ? 1 : 0) + (selection === 'all' && hasAdded ? 1 : 0);
}

function isAny(count: Count | undefined): boolean {
  return count !== undefined && count.count > 0n;
}

const counted = z.looseObject({ totalElements: int64 });
const PRODUCTS_A_PAGE = 200n;

async function countProductCalls({ client, pipeline, selection, journal }: Lookout): Promise<number> {
  if (journal?.last('products.done') !== undefined) return 0;
  const [part, ...others] = listSelectedParts(client, selection);
  if (part === undefined || others.length > 0) return 0;
  if (pipeline.source.products !== 'all') return pipeline.proof.products ? 1 : 0;
  const { totalElements } = await part.client.json('/products', { size: 1 }, counted);
  const landed = BigInt(journal?.all('products.page').length ?? 0);
  const pages = (totalElements + PRODUCTS_A_PAGE - 1n) / PRODUCTS_A_PAGE;
  return Math.max(1, Number(pages - landed));
}
