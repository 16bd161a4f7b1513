import * as z from 'zod';
import { int64 } from '../../api/wire-types.js';
import type { PricelakeError } from '../../io/errors.js';
import { isApplicable } from '../../journal/run-state.js';
import type { Ahead, Count } from '../../plan/estimate.js';
import type { RunPlan } from '../../plan/plan-run.js';
import { listParts } from '../../source/dataset-client.js';
import { hasOpenBackfill } from '../../source/land-histories.js';
import type { PlannedRun } from '../../source/read-plan.js';
import { isComparisonWorthIt } from '../../source/read-plan.js';
import { listEvents } from '../../webhook/event-files.js';
import { isAtRest } from '../prove/run-record.js';
import { estimateCopy, estimatePolls } from './estimate-copy.js';
import { estimateFeed } from './estimate-feed.js';
import { type EstimateSource, estimateHistories, estimateListing, estimateNeeds } from './estimate-reads.js';
import type { RunPlanner } from './run-planner.js';

/** A plan with its work, and the reason why it would not begin. */
interface PricedPlan {
  plan: RunPlan;
  ahead: Ahead;
  refusal: PricelakeError | undefined;
}

const NOTHING: Ahead = {
  ...{ plan: false, publishes: true, datasets: 0, facets: 0, products: 0, sample: 0 },
  countsUsage: () => false,
};

/** A run that has made its calls only has to publish. */
export async function priceNothing(planner: RunPlanner): Promise<PricedPlan> {
  return { plan: await planner.plan(), ahead: NOTHING, refusal: undefined };
}

/** Prices the rest of a run's plan, after its earlier tries. */
export async function pricePlan(source: EstimateSource, planned: PlannedRun, planner: RunPlanner): Promise<PricedPlan> {
  const { state } = source.journal;
  const { comparisons: compared } = state;
  const plan = await planner.plan('readable', 'polledAt', 'counts', 'listed');
  const { decision, copy, copied, comparisons } = plan;
  const { mode } = decision;
  const polls = copy?.settling === undefined ? plan.polls : [copy.settling, ...plan.polls];
  const changedItems = await estimatePolls(source.client, planner.facts, polls);
  const feed =
    plan.feed.isRead && state.feed.done === undefined ? await estimateFeed(source, plan.feed.starts) : undefined;
  const isNews = isAny(feed?.changes) || state.feed.changes > 0;
  const isIdle =
    state.stage === 'none' && copied.length === 0 && !isNews && !isAny(changedItems) && !(await hasWaiting(source));
  const checks = (plan.checksDatasets ? 1 : 0) + (planner.asked.has('readable') ? 1 : 0);
  const ahead: Ahead = {
    plan: true,
    lowWatermark: countLowWatermark(plan, state.watermark !== undefined),
    ...(copy && estimateCopy(planner.facts, copy, planned)),
    changedItems,
    listing: mode === 'poll' ? await estimateListing(source, planned) : undefined,
    changes: feed?.changes,
    hydration: feed === undefined || mode !== 'feed' ? undefined : await estimateNeeds(source, planned, feed),
    histories: await estimateHistories(source, planned, copy?.items),
    publishes: !planner.facts.lake.hasItems || isNews,
    datasets: (isApplicable(state) || (isIdle && mode === 'feed') ? 0 : 1) + checks,
    facets: comparisons.facets && compared.facets === undefined ? 1 : 0,
    products: isIdle ? 0 : await countProductCalls(source, plan),
    sample: isIdle || compared.missing !== undefined ? 0 : comparisons.sample,
    countsUsage: (calls, rows) =>
      !isIdle && (planned.plan.usage ?? null) !== null && isComparisonWorthIt(calls, rows > 0n),
  };
  return { plan, ahead, refusal: copy?.choice.route === 'wait' ? copy.choice.refusal : undefined };
}

/** Calls for the newest change, the items of each part, and listed items by website of parts that may be split. */
function countLowWatermark({ lowWatermark, copy }: RunPlan, isTaken: boolean): number | undefined {
  const websites = 2 * (copy?.large.length ?? 0);
  if (lowWatermark === undefined || isTaken) return websites === 0 ? undefined : websites;
  return (lowWatermark.feed === 'none' ? 0 : 1) + lowWatermark.parts.length + websites;
}

/** True if events, histories or the lake's own upkeep wait for a run. */
async function hasWaiting(source: EstimateSource): Promise<boolean> {
  const { root } = source.lake;
  if ((await listEvents(root)).length > 0 || (await hasOpenBackfill(root))) return true;
  return !(await isAtRest(source));
}

function isAny(count: Count | undefined): boolean {
  return count !== undefined && count.count > 0n;
}

const counted = z.looseObject({ totalElements: int64 });
const PRODUCTS_A_PAGE = 200n;

async function countProductCalls(
  { client, journal }: EstimateSource,
  { comparisons, parts }: RunPlan,
): Promise<number> {
  const [part] = listParts(client, parts);
  if (part === undefined || comparisons.products === 'none' || journal.state.comparisons.allProducts !== undefined)
    return 0;
  if (comparisons.products === 'page') return 1;
  const { totalElements } = await part.client.json('/products', { size: 1 }, counted);
  const landed = BigInt(journal.state.pages.products.pages);
  const pages = (totalElements + PRODUCTS_A_PAGE - 1n) / PRODUCTS_A_PAGE;
  return Math.max(1, Number(pages - landed));
}
