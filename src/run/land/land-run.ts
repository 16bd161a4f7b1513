import path from 'node:path';
import type { ApiClient } from '../../api/client.js';
import type { Pipeline } from '../../config/pipeline.js';
import type { Io } from '../../io/io.js';
import { type Landing, readBegin } from '../../journal/landings.js';
import type { LowWatermark } from '../../journal/reads.js';
import { isApplicable, isComplete, readSelection } from '../../journal/run-state.js';
import type { LakeRows } from '../../lake/table-rows.js';
import { countCallsLeft } from '../../plan/allowance.js';
import type { RunPlan } from '../../plan/plan-run.js';
import { listParts, listSelectedParts } from '../../source/dataset-client.js';
import { type LandedDatasets, landDatasets } from '../../source/datasets.js';
import { type FeedPart, isCursorRefused, type LandedFeed, landFeed, least } from '../../source/feed.js';
import { type HydrationNeed, hasReadLists, landHydration, landRereads } from '../../source/hydrate.js';
import { isExportFile } from '../../source/hydrate-export.js';
import { type ItemFile, listItemFiles } from '../../source/item-files.js';
import { listUnnamedChanges } from '../../source/unnamed-changes.js';
import { landLowWatermark } from '../../source/watermark.js';
import type { RelationGraph } from '../../sql/graph.js';
import { code, sql } from '../../sql/sql.js';
import { type CursorWindow, openWindow } from '../../tables/cursor-window.js';
import { fitName } from '../../tables/item-names.js';
import { type ChangeOrigin, type DatasetSelection, ORIGIN, type RunMode } from '../../tables/table.js';
import type { TypingQueue } from '../../typing/typing-queue.js';
import type { Account } from '../open/account.js';
import { isAtRest } from '../open/at-rest.js';
import { checkSelection } from '../open/dataset-selection.js';
import type { Engine, FoundLake, Ledger, World } from '../open/run-parts.js';
import type { PlannedRun } from '../plan/open-plan.js';
import { findRejectedChanges } from '../plan/read-overlap.js';
import type { RunPlanner } from '../plan/run-planner.js';
import { ItemCopy } from './copy-items.js';

/** The data that a run has landed before it reads individual items in full. */
export interface LandedInput {
  runId: string;
  mode: RunMode;
  selection: DatasetSelection;
  /** The low watermark; undefined for a run that reads only the feed. */
  lowWatermark: LowWatermark | undefined;
  /** Changes from sources other than the feed, which land before the feed. */
  brought: readonly BroughtChanges[];
  /** The landed part of the feed; undefined if the plan doesn't include the feed. */
  feed: LandedFeed | undefined;
  window: CursorWindow;
  /** The ids of datasets that are new to the lake. The run copies all items of these datasets. */
  added: readonly bigint[];
  /** The account, if the run may make more calls. */
  account: Account | undefined;
  /** The run's plan, as it was when the feed was read. */
  plan: RunPlan;
}

export interface BroughtChanges {
  file: string;
  changes: number;
  origin: ChangeOrigin;
}

/**
 * Lands new data according to the run's plan. If the plan is to read only the feed, lands the feed. Otherwise, lands
 * the low watermark, then complete rows of all items or of changed items, then the feed. Landed rows are typed while
 * the next rows download.
 */
export async function landRun(
  world: World,
  found: FoundLake,
  ledger: Ledger,
  engine: Engine,
  planned: PlannedRun,
): Promise<LandedInput> {
  const copy = new ItemCopy(world, found, ledger.landing, engine.typing, planned);
  for (;;) {
    const landed = await landByPlan(world, found, ledger, engine.graph, { ...planned, copy });
    if (landed !== undefined) {
      await probeSites(world, found, ledger, engine.graph, planned.planner);
      return landed;
    }
  }
}

/** True if the run has nothing to write: no data has landed, and no work of an interrupted run is left. */
export async function isIdle(found: FoundLake, { journal }: Landing, landed: LandedInput): Promise<boolean> {
  if (journal.state.probes.sites.size > 0 || Object.values(found.standing).includes('committed')) return false;
  const { lowWatermark, feed, brought } = landed;
  if (lowWatermark !== undefined || feed?.changes !== 0 || brought.some(({ changes }) => changes > 0)) return false;
  return isAtRest(found);
}

/**
 * Lands data according to the current plan. Returns undefined if the run needs a new plan. This happens if the service
 * refuses the cursor, or if the feed has changes that don't name their items.
 */
async function landByPlan(
  { client, io, sources }: World,
  found: FoundLake,
  { landing, memory }: Ledger,
  graph: RelationGraph,
  { planner, account, copy }: PlannedRun & { copy: ItemCopy },
): Promise<LandedInput | undefined> {
  const { lake, tables, before } = found;
  const selection = readSelection(readBegin(landing));
  const { decision, lowWatermark: mark, checksDatasets } = await decide(io, client, landing, planner);
  const { mode, added = [] } = decision;
  const reporting = reportPace(io, graph, found, mode);
  reporting.catch(() => {}); // the error is thrown where `reporting` is awaited
  if (checksDatasets && account !== undefined) await checkSelection(client, selection, account.plan);
  for (const source of sources) await source.land(landing, lake, io);
  const brought = listBrought(landing);
  const lowWatermark = mark && (await landLowWatermark(client, landing, listParts(client, mark.parts), mark.feed, io));
  if (lowWatermark !== undefined) await landWholeRows(planner, copy);
  // Plans again with the watermark, which is known now, because the feed may start there.
  const plan = await planner.plan();
  const feeds = listFeedParts(client, plan, (ids) => findRejectedChanges(graph, before, ids));
  const feed = await landFeed(client, landing, feeds, plan.feed.isRead, { io, memory }).catch((error: unknown) => {
    if (mode !== 'feed' || !isCursorRefused(error)) throw error;
    planner.note({ cursorRefused: error.message });
    return 'refused' as const;
  });
  await reporting;
  if (feed === 'refused') return undefined;
  if (mode === 'feed' && account !== undefined && feed !== undefined && feed.unnamed > 0) {
    const unnamed = await countUnnamed(graph, before, feed, brought);
    if (unnamed > 0n) {
      planner.note({ unnamed });
      return undefined;
    }
  }
  const applied = tables.items.applied.cursor;
  const isByRows = mode !== 'feed' && lowWatermark !== undefined;
  // In mode `feed`, only items of new datasets are copied. All other items include the changes up to the lake's cursor.
  const watermark = isByRows ? (lowWatermark.cursor ?? 0n) : added.length > 0 ? applied : undefined;
  const bounds = { from: least(feeds.map(({ from }) => from)), to: feed?.cursor, watermark };
  const window = openWindow(tables, { ...bounds, overlap: decision.overlap });
  return { runId: landing.runId, mode, selection, lowWatermark, brought, feed, window, added, account, plan };
}

function listBrought({ folder, journal }: Landing): BroughtChanges[] {
  return [...journal.state.sources.values()].flatMap(({ landed, changes }) =>
    landed === undefined ? [] : [{ file: path.join(folder, landed.file), origin: landed.origin, changes }],
  );
}

function listFeedParts(
  client: ApiClient,
  { feed: { starts } }: RunPlan,
  findRejected: (ids: readonly bigint[]) => Promise<ReadonlySet<bigint>>,
): FeedPart[] {
  return starts.flatMap(({ dataset, from = 0n, overlap, ...start }) => {
    const again = overlap === undefined ? {} : { overlap: { ...overlap, findRejected } };
    return listParts(client, [dataset]).map((part) => ({ ...part, from, ...start, ...again }));
  });
}

/** Finds out when each source was last seen. Skips this if the landed rows are already typed. */
async function probeSites(
  { probe, client, io }: World,
  { pipeline, before }: FoundLake,
  { landing, memory }: Ledger,
  graph: RelationGraph,
  planner: RunPlanner,
): Promise<void> {
  if (probe === undefined || isApplicable(landing.journal.state)) return;
  const { mode } = (await planner.plan()).decision;
  await probe.ask({ client, io, pipeline, before, landing, memory, graph, mode, facts: planner.facts });
}

/** Counts feed changes without an item id that no other feed, early source or history row provides. */
async function countUnnamed(
  graph: RelationGraph,
  before: LakeRows,
  feed: LandedFeed,
  brought: readonly BroughtChanges[],
): Promise<bigint> {
  const same = brought.filter(({ origin }) => origin === ORIGIN.early);
  const ids = await listUnnamedChanges(feed, same);
  const history = await before.rows('history');
  const known = sql`FROM ${history} WHERE item_id IS NOT NULL AND change_id IN (${code(ids.join(', ') || 'NULL')})`;
  return BigInt(ids.length) - (await graph.count(known));
}

/** Reports the median duration of earlier runs in the same mode, from which the remaining time is estimated. */
async function reportPace(io: Io, graph: RelationGraph, { before, tables }: FoundLake, mode: RunMode): Promise<void> {
  if (tables.runs.files.length === 0) return;
  const row = await graph.row(
    sql`SELECT median(seconds) AS seconds, CAST(median(received) AS BIGINT) AS rows FROM (
      SELECT seconds, received FROM ${await before.rows('runs')} WHERE mode = ${mode} AND tries = 1
      ORDER BY run_number DESC LIMIT 5)`,
  );
  const { seconds, rows } = row ?? {};
  if (typeof seconds === 'number' && typeof rows === 'bigint')
    io.progress({ step: 'run', rows: 0n, bytes: 0, pace: { seconds, rows } });
}

/** Decides how the run updates the lake. Journals the decision, so that later attempts use it too. */
async function decide(io: Io, client: ApiClient, landing: Landing, planner: RunPlanner): Promise<RunPlan> {
  const plan = await planner.plan('readable', 'polledAt');
  if (plan.isDecisionNew) {
    io.log('info', 'decided', { ...plan.decision });
    await landing.journal.append({ type: 'decision', ...plan.decision, calls: client.calls() });
  }
  return plan;
}

/** Lands complete rows. Polls last, because a run whose copy is refused can't be dropped after a poll has landed. */
async function landWholeRows(planner: RunPlanner, copy: ItemCopy): Promise<void> {
  await copy.landAll();
  for (const poll of (await planner.plan()).polls) await copy.poll(poll);
}

/** Lands the complete rows of items whose changes lack values, and passes each file to the typing queue. */
export async function hydrateRun(
  { client, io }: World,
  landing: Landing,
  typing: TypingQueue,
  { account, selection }: LandedInput,
  { need, source }: { need: HydrationNeed | undefined; source: Pipeline['source'] },
): Promise<void> {
  const { journal } = landing;
  const onFile = (file: ItemFile) => typeReread(typing, file);
  if (isComplete(journal.state)) {
    for (const file of listItemFiles(landing, 'hydrate')) onFile(file);
    return;
  }
  if (need === undefined) await journal.append({ type: 'hydrate.done', calls: client.calls() });
  else {
    const ratePerSecond = account?.plan.limits.ratePerSecond ?? null;
    const parts = listSelectedParts(client, selection);
    const { export: format, mapping } = source;
    const exports = { format, fitId: (name: string) => fitName('id', name, mapping) };
    await landHydration(client, landing, need, onFile, io, { gate: account?.gate, exports, ratePerSecond, parts });
  }
}

function typeReread(typing: TypingQueue, file: ItemFile): void {
  typing.addItems({ ...file, origin: 'reread', isExport: isExportFile(file) });
}

/** Reads items individually if their rows from pages or exports lack newer changes. Returns true if any was read. */
export async function rereadStale(
  { client, io }: World,
  landing: Landing,
  typing: TypingQueue,
  account: Account | undefined,
  itemIds: bigint[],
): Promise<boolean> {
  if (account === undefined || !hasReadLists(landing)) return false;
  const left = countCallsLeft(account.gate.left(), BigInt(client.calls()));
  const before = listItemFiles(landing, 'hydrate').length;
  await landRereads(client, landing, itemIds, left, io);
  const files = listItemFiles(landing, 'hydrate');
  for (const file of files) typeReread(typing, file);
  return files.length > before;
}

/** Lands the service's descriptions of the datasets, as they are at the end of the run. */
export async function landRunDatasets(
  { client, io, look }: World,
  landing: Landing,
  account: Account | undefined,
): Promise<LandedDatasets> {
  const landed = await landDatasets(client, landing, io, account?.plan.lockedDatasets);
  for (const row of landed.rows) look('/datasets', row);
  return landed;
}
