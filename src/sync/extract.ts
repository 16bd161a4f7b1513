import { hasFeed, type PlannedRun, readPlan } from '../account/read-plan.js';
import { takeBackfill } from '../backfill/land-histories.js';
import { PricelakeError } from '../errors/errors.js';
import { type DatasetPart, listParts } from '../extract/dataset-client.js';
import { type LandedDatasets, landDatasets } from '../extract/datasets.js';
import { landEvents } from '../extract/events.js';
import { type FeedPart, isCursorRefused, landFeed, least } from '../extract/feed.js';
import { type HydrationNeed, landHydration } from '../extract/hydrate.js';
import { isExportFile } from '../extract/hydrate-export.js';
import { cutItemTails, type ItemFile, listItemFiles } from '../extract/item-files.js';
import { hasReadLists, landRereads } from '../extract/reread.js';
import { landLowWatermark } from '../extract/watermark.js';
import { countLeft, NO_EXPORTS } from '../plan/allowance.js';
import { createExportGate } from '../plan/export-gate.js';
import { checkSelection, listSelectedParts } from '../run/dataset-selection.js';
import type { Extract } from '../run/landed-run.js';
import { type Run, readBegin } from '../run/open-run.js';
import type { RunMode } from '../tables/table.js';
import { isItemId } from '../typing/item-names.js';
import type { TypingQueue } from '../typing/typing-queue.js';
import { listEvents } from '../webhook/event-files.js';
import { coverStandstill, landAllItems, landChangedItems, typePages } from './copy-items.js';
import { decideRun } from './decide-run.js';

/**
 * Lands what is new: whole rows behind a low watermark (all items, or those that changed since), then the feed; or the feed
 * alone. Segments of whole rows are typed while the rest downloads.
 */
export async function extractRun(run: Run): Promise<Extract> {
  const { client, landing, io, selection } = run;
  const planned = await planRun(run);
  const { mode, added = [] } = planned === undefined ? readDecision(run) : await decideRun(run, planned);
  const parts = listSelectedParts(client, selection);
  const isRead = mode !== 'feed' || added.length > 0;
  if (isRead && planned !== undefined) await checkDatasets(run, planned);
  const withFeed = planned !== undefined && hasFeed(planned.plan);
  const events = await landEvents(landing, () => listEvents(run.lake.root), io);
  const backfill = await takeBackfill(landing, run.lake.root);
  const copied = mode === 'snapshot' ? parts : listParts(client, added);
  const others = copied.filter(({ dataset }) => !parts.some((part) => part.dataset === dataset));
  const isNew = readBegin(run).cursorFrom === null && run.pipeline.source.history !== 'feed';
  const lowWatermark = isRead
    ? await landLowWatermark(client, landing, [...parts, ...others], withFeed ? (isNew ? 'new' : 'known') : 'none', io)
    : undefined;
  if (lowWatermark !== undefined) {
    const gate = planned?.gate ?? createExportGate(NO_EXPORTS, io);
    const onPage = typePages(run);
    const polled = parts.filter(({ dataset }) => dataset === undefined || !added.includes(dataset));
    // The copy first: where it is refused, nothing has landed that would bind the next run.
    if (copied.length > 0) await landAllItems(run, copied, lowWatermark, gate, onPage);
    if (mode === 'poll') await landChangedItems(run, polled, onPage);
    if (planned !== undefined) await coverStandstill(run, planned, lowWatermark, onPage);
  }
  const start = lowWatermark?.cursor ?? 0n;
  const feeds = planFeeds(run, parts, added, lowWatermark?.from ?? start).map((part) => ({
    ...part,
    ...(mode === 'feed' ? {} : { beginsAgain: start }),
  }));
  const feed = await landFeed(client, landing, feeds, withFeed, io).catch(async (error: unknown) => {
    if (mode !== 'feed' || !isCursorRefused(error)) throw error;
    return copyInstead(run, error);
  });
  if (mode === 'feed' && readDecision(run).mode !== 'feed') return extractRun(run);
  const feedFrom = least(feeds.map(({ from }) => from));
  const applied = run.tables.items.applied.cursor;
  const watermark = mode !== 'feed' && lowWatermark !== undefined ? start : added.length > 0 ? applied : undefined;
  const applyFrom = applied ?? watermark ?? feedFrom;
  return { mode, lowWatermark, events, backfill, feed, feedFrom, added, applyFrom, watermark, planned };
}

/** The feed has forgotten changes that the lake lacks: only a complete copy can bring them. */
async function copyInstead({ landing, client, io }: Run, { message }: PricelakeError): Promise<undefined> {
  const choice = { mode: 'snapshot' as const, reason: `the service refuses the cursor of the feed: ${message}` };
  io.log('info', 'decided', choice);
  await landing.journal.append({ type: 'decision', ...choice, calls: client.calls() });
  return undefined;
}

/** Where the feed of each part begins: behind what the lake has of it, or where the history that is wanted does. */
function planFeeds(run: Run, parts: readonly DatasetPart[], added: readonly bigint[], start: bigint): FeedPart[] {
  const { cursorFrom } = readBegin(run);
  const isWanted = run.pipeline.source.history === 'feed';
  const first = isWanted ? 0n : start;
  return parts.map((part) => {
    if (cursorFrom === null) return { ...part, from: first };
    // The feed of all datasets can't be had for the new ones alone.
    if (part.dataset === undefined) return { ...part, from: added.length > 0 && isWanted ? 0n : cursorFrom };
    return { ...part, from: added.includes(part.dataset) ? first : cursorFrom };
  });
}

/** Before anything is paid for. The feed of datasets that are copied already tells by itself when one is locked. */
async function checkDatasets({ client, landing, selection }: Run, { plan }: PlannedRun): Promise<void> {
  if (selection === 'all' || landing.journal.last('watermark') !== undefined) return;
  await checkSelection(client, selection, plan);
}

/**
 * The plan for the calls that are left to make; undefined when the run has made all of them. What has landed needs no
 * call to be published: then a service that refuses is no reason to fail, and what would only prove the copy is left out.
 */
async function planRun(run: Run): Promise<PlannedRun | undefined> {
  const { client, landing } = run;
  const { journal } = landing;
  const isLanded = journal.last('datasets') !== undefined && journal.last('hydrate.done') !== undefined;
  if (!isLanded) return readPlan(run);
  const makeNoCall = (reason: string) => {
    client.setCallLimit(0, () => new PricelakeError('budget', `what the run needs has landed; ${reason}`));
    return undefined;
  };
  if (journal.last('usage.after') !== undefined) return makeNoCall('its calls are made');
  return readPlan(run).catch((error: unknown) => {
    if (!(error instanceof PricelakeError) || ['stopped', 'deadline'].includes(error.code)) throw error;
    return makeNoCall(error.message);
  });
}

function readDecision({ landing }: Run): { mode: RunMode; added?: bigint[] | undefined } {
  return landing.journal.last('decision') ?? { mode: 'feed' };
}

/** Lands whole reads of the items that the changes told too little of, and hands each file of them to the typing. */
export async function hydrateRun(
  run: Run,
  planned: PlannedRun | undefined,
  need: HydrationNeed | undefined,
): Promise<void> {
  const { client, landing, io, typing } = run;
  const { journal } = landing;
  const onFile = (file: ItemFile) => typeReread(typing, file);
  if (journal.last('hydrate.done') !== undefined) {
    await cutItemTails(landing, 'hydrate.page');
    for (const file of listItemFiles(landing, 'hydrate.page')) onFile(file);
    return;
  }
  if (need === undefined) await journal.append({ type: 'hydrate.done', calls: client.calls() });
  else {
    const ratePerSecond = planned?.plan.limits.ratePerSecond ?? null;
    const parts = listSelectedParts(client, run.selection);
    const { export: format, mapping } = run.pipeline.source;
    const exports = { format, isId: (name: string) => isItemId(name, mapping) };
    await landHydration(client, landing, need, onFile, io, { gate: planned?.gate, exports, ratePerSecond, parts });
  }
}

function typeReread(typing: TypingQueue, file: ItemFile): void {
  typing.addItems({ ...file, origin: 'reread', isExport: isExportFile(file) });
}

/** Reads items one by one of which a list showed less than the feed told. True when any was read. */
export async function rereadStale(run: Run, planned: PlannedRun | undefined, itemIds: bigint[]): Promise<boolean> {
  const { client, landing, io, typing } = run;
  if (planned === undefined || !hasReadLists(landing)) return false;
  const { calls } = planned.gate.left();
  const left = calls === undefined ? null : countLeft(calls) - BigInt(client.calls());
  const before = listItemFiles(landing, 'hydrate.page').length;
  await landRereads(client, landing, itemIds, left, io);
  const files = listItemFiles(landing, 'hydrate.page').slice(before);
  for (const file of files) typeReread(typing, file);
  return files.length > 0;
}

/** Datasets as the service describes them at the run's end. */
export async function extractDatasets(run: Run): Promise<LandedDatasets> {
  const landed = await landDatasets(run.client, run.landing, run.io);
  for (const row of landed.rows) run.drift.look('/datasets', row);
  return landed;
}
