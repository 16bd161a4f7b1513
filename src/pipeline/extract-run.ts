import { planInfo } from '../api/contract.js';
import { PricelakeError } from '../errors.js';
import { type LandedDatasets, landDatasets } from '../extract/datasets.js';
import { type LandedFeed, landFeed } from '../extract/feed.js';
import { type HydrationNeed, landHydration } from '../extract/hydrate.js';
import { type HydrationFile, listHydrationFiles } from '../extract/hydration-files.js';
import { type LandedSnapshot, landSnapshot } from '../extract/snapshot.js';
import { TXN_CURSOR } from '../model.js';
import { type Run, readBegin } from './run.js';

/** What of a run is landed before hydration. */
export interface Extract {
  snapshot: LandedSnapshot | undefined;
  feed: LandedFeed;
  /** Changes behind this id are new to the lake's history. */
  feedFrom: bigint;
  /** Changes behind this id are not yet in items. */
  applyFrom: bigint;
}

/**
 * Lands what is new: for a lake without items the whole export behind a fence, then the feed.
 * Segments of the export are typed while the rest downloads.
 */
export async function extractRun(run: Run): Promise<Extract> {
  const { client, landing, io, typer } = run;
  if (landing.journal.last('datasets') === undefined) await readPlan(run);
  const begin = readBegin(run);
  let snapshot: LandedSnapshot | undefined;
  if (begin.mode === 'snapshot') {
    snapshot = await landSnapshot(
      client,
      landing,
      { onSegment: (segment) => typer.addItems(segment), onRestart: () => typer.reset() },
      io,
    );
  }
  const fence = snapshot?.fence ?? 0n;
  const feedFrom = begin.cursorFrom ?? (run.pipeline.source.history === 'feed' ? 0n : fence);
  const feed = await landFeed(client, landing, feedFrom, io);
  return {
    snapshot,
    feed,
    feedFrom,
    applyFrom: snapshot === undefined ? (run.tables.items.txn[TXN_CURSOR] ?? feedFrom) : fence,
  };
}

/** A service may leave out what is null. */
const seenPlan = planInfo.partial({ status: true, trialEndsAt: true, usage: true });

/** Takes the rate from the plan, and refuses a plan without the feed before a row is paid for (section 8). */
async function readPlan(run: Run): Promise<void> {
  const plan = await run.client.json('/plan', {}, seenPlan);
  run.client.setRate(plan.limits.ratePerSecond ?? null);
  const { apiCalls, exportRows } = plan.usage ?? {};
  run.io.log('info', 'plan', { plan: plan.plan, status: plan.status, apiCalls, exportRows });
  if (plan.limits.changeFeed === false) {
    throw new PricelakeError(
      'plan_refuses',
      `plan "${plan.name}" has no change feed, which keeping a copy in sync needs`,
      {
        limit: 'changeFeed',
        upgradeUrl: plan.upgradeUrl,
      },
    );
  }
}

/** Lands whole reads of the items that the changes told too little of, and hands each file of them to the typer. */
export async function hydrateRun(run: Run, findNeeds: () => Promise<HydrationNeed | undefined>): Promise<void> {
  const { client, landing, io, typer } = run;
  const { journal } = landing;
  const onFile = (file: HydrationFile) => typer.addItems({ ...file, origin: 'reread' });
  if (journal.last('hydrate.done') !== undefined) {
    for (const file of listHydrationFiles(landing)) onFile(file);
    return;
  }
  const need = await findNeeds();
  if (need === undefined) await journal.append({ type: 'hydrate.done', calls: client.calls() });
  else await landHydration(client, landing, need, onFile, io);
}

/** Datasets as the service describes them at the run's end. */
export function extractDatasets(run: Run): Promise<LandedDatasets> {
  return landDatasets(run.client, run.landing, run.io);
}
