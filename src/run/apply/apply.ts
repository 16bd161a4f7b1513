/** Compares landed rows with the current items, and decides which items to read in full. Sends no requests. */

import type { Io } from '../../io/io.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { type DatasetNames, type DatasetRename, loadRenames } from '../../typing/dataset-names.js';
import { type FeedSkew, measureFeedSkew, UNKNOWN_SKEW } from '../../typing/feed-skew.js';
import type { TypedFile } from '../../typing/type-file.js';
import { countTyped, type ItemReader, type ItemReads } from '../../typing/typed-rows.js';
import type { LandedInput } from '../land/land-run.js';
import { hasTooManySites } from '../open/items-layout.js';
import type { Engine, FoundLake } from '../open/run-parts.js';
import type { Moment } from '../open/wings.js';
import { findAbsent } from './absent-fields.js';
import { divideItems, judgeReads, narrowNeeds } from './apply-in-parts.js';
import type { LandedChanges } from './changes.js';
import { addChanged, type ComparedRows, type ComparisonFacts, compareItems } from './compare-rows.js';
import { findNeeds, type JudgedReads, type NeededItems } from './judge-reads.js';
import { type BaseRows, type MergeBase, readBase, type TouchedItems } from './merge.js';
import { countUnnamed, type RejectedRows, readRejectedRows } from './rejects.js';
import type { RowsInParts } from './rows-in-parts.js';

/** The run's changes, and the tables as they were before the run. */
export interface ReadChanges {
  landed: LandedInput;
  /** The tables to which changes are applied, as they were before the run. */
  lake: Record<'items' | 'history' | 'stale_items' | 'sites' | 'runs', Relation>;
  changeFiles: readonly TypedFile[];
  changes: LandedChanges;
  /** Changes that haven't been applied to items. */
  pending: Relation;
  names: DatasetNames;
  renames: readonly DatasetRename[];
  datasetPattern: string | null;
  reader: ItemReader;
}

/** The results of comparing complete rows with the lake, and the items that must be read in full. */
export interface ComparedRun extends FoundRows {
  base: MergeBase;
  baseRows: BaseRows;
  /** The items, divided into parts if many of them change. */
  parts: RowsInParts;
  exported: ItemReads;
  reread: ItemReads;
  compared: ComparedRows;
  rejected: RejectedRows;
  renamedDatasets: Relation;
  skew: FeedSkew;
  /** True if some changes, landed by this run or an earlier one, couldn't be typed. */
  lacksChanges: boolean;
  needed: NeededItems;
  /** The number of changes and rows that don't name their item. The listing state of these items is unknown. */
  unnamed: bigint;
}

/** The typed complete rows, and what the run learned by requesting the items that a complete copy doesn't contain. */
export interface FoundRows extends ReadChanges, Pick<ComparisonFacts, 'unlisted' | 'provesAbsence'> {
  itemFiles: readonly TypedFile[];
  /** True if the run reads all changed items in full, even if their changes seem to contain all values. */
  isDistrusted: boolean;
  moment: Moment;
}

/** Compares complete rows with the lake, and finds the items that must be read in full. */
export async function compareRun(io: Io, found: FoundLake, engine: Engine, read: FoundRows): Promise<ComparedRun> {
  const { graph } = engine;
  const { landed, lake, changes, pending, names, reader, itemFiles, moment } = read;
  const { runId, window } = landed;
  const { watermark, to } = window;
  const base = await chooseMergeBase(found, landed);
  const absent = base.kind === 'reload' ? await findAbsent(io, engine, lake.items) : [];
  const absentFields = absent.length === 0 ? undefined : { names: absent, items: lake.items };
  const exported = await reader.exported(itemFiles, absentFields);
  const reread = await reader.reread(itemFiles);
  const lacksChanges = found.tables.rejects.files.length > 0 || read.changeFiles.some(({ rejected }) => rejected > 0);
  const isMeasured = watermark !== undefined && exported.tally.typed + reread.tally.typed > 0n;
  const skew = isMeasured
    ? await measureFeedSkew(graph, { ...lake, pending, exported, reread }, { lacksChanges })
    : UNKNOWN_SKEW;
  const different = await compareItems(
    graph,
    base,
    { ...lake, exported_items: exported.rows, pending_changes: pending, fresh: changes.fresh },
    {
      ...{ runId, at: moment.at, skew, cursor: to },
      ...{ unlisted: read.unlisted, provesAbsence: read.provesAbsence },
      datasets: names.readable,
      added: landed.added.flatMap((id) => names.byId.get(id) ?? []),
      isReadWhole: countTyped(itemFiles) === exported.tally.typed,
    },
  );
  // If another program changed the lake's files, it caused these differences. They aren't price changes for history.
  const isRepaired = Object.keys(found.repairs).length > 0;
  const compared = isRepaired ? { ...different, changes: graph.empty('diff_changes', 'history') } : different;
  const { unreadable: kept } = compared.counts;
  if (kept > 0n) io.log('warn', 'copy.datasets_locked', { kept });
  const rejected = findRejected(graph, { ...read, exported });
  const renamedDatasets = loadRenames(graph, read.renames);
  const parts = await divideItems(engine, { pending, different: compared.different });
  const baseRows = await readBase(graph, base, listTouched({ ...read, exported, compared, rejected }));
  const unnamed = await countUnnamed(graph, { pending, rejected: rejected.rows, watermark });
  const changed = read.isDistrusted ? pending : changes.late;
  const doubted = addChanged(graph, compared.doubted, { changed, exported: exported.rows });
  const needs = {
    ...{ base_items: baseRows.rows, doubted_items: doubted, pending_changes: pending },
    ...{ rejected_items: rejected.items, stale_items: lake.stale_items },
  };
  const values = { feed_skew: skew.us, read_at: moment.at, run_id: runId, watermark: watermark ?? null };
  const needed = await findNeeds(graph, await narrowNeeds(graph, parts, needs, values), values);
  const rows = { base, baseRows, parts, exported, reread, compared, rejected, renamedDatasets };
  return { ...read, ...rows, skew, lacksChanges, needed, unnamed };
}

export interface JudgedRun extends ComparedRun {
  reads: JudgedReads;
}

/** Decides which full item reads are current enough to use. @param itemFiles all files of complete rows typed so far */
export async function judgeRun(
  graph: RelationGraph,
  compared: ComparedRun,
  itemFiles: readonly TypedFile[],
): Promise<JudgedRun> {
  const next = await addReads(graph, compared, itemFiles);
  const skew = next.reread.tally.typed > 0n ? await measureFeedSkew(graph, { ...next.lake, ...next }, next) : next.skew;
  return judge(graph, { ...next, skew });
}

/** Repeats the decision of `judgeRun` after the run has read some items again. */
export async function judgeAgain(
  graph: RelationGraph,
  judged: JudgedRun,
  itemFiles: readonly TypedFile[],
): Promise<JudgedRun> {
  return judge(graph, await addReads(graph, judged, itemFiles));
}

async function addReads(
  graph: RelationGraph,
  compared: ComparedRun,
  itemFiles: readonly TypedFile[],
): Promise<ComparedRun> {
  if (itemFiles.length === compared.itemFiles.length) return compared;
  const rows = readRejectedRows(graph, [...itemFiles, ...compared.changeFiles]);
  const reread = await compared.reader.reread(itemFiles);
  return { ...compared, itemFiles, reread, rejected: { ...compared.rejected, rows } };
}

async function judge(graph: RelationGraph, compared: ComparedRun): Promise<JudgedRun> {
  const { lake, pending, baseRows, parts, needed, rejected, reread, moment, skew } = compared;
  const sources = {
    ...{ base_items: baseRows.rows, needed_items: needed.rows, pending_changes: pending, rejected, reread },
    ...{ history: lake.history, stale_items: lake.stale_items },
  };
  const reads = await judgeReads(graph, parts, sources, { at: moment.at, skew });
  return { ...compared, reads };
}

export function listTouched({
  lake,
  pending,
  exported,
  compared,
  rejected,
}: Pick<ComparedRun, 'lake' | 'pending' | 'exported' | 'compared' | 'rejected'>): TouchedItems {
  const { different, doubted } = compared;
  return { exported: exported.rows, pending, different, doubted, stale: lake.stale_items, rejected: rejected.items };
}

function findRejected(
  graph: RelationGraph,
  { landed, lake, changeFiles, changes, exported, itemFiles }: FoundRows & { exported: ItemReads },
): RejectedRows {
  const rows = readRejectedRows(graph, [...itemFiles, ...changeFiles]);
  const items = graph.model(
    'rejected_items',
    { exported_items: exported.rows, feed_changes: changes.feed, items: lake.items, rejected_rows: rows },
    { watermark: landed.window.watermark ?? null },
  );
  return { rows, items };
}

async function chooseMergeBase(
  { tables, before, standing, pipeline }: FoundLake,
  { mode, lowWatermark }: LandedInput,
): Promise<MergeBase> {
  const { items } = tables;
  const lake = { before: await before.table('items'), isRewritten: false };
  // If an earlier attempt has committed the items table, it has already added the complete rows. Only changes are left.
  if (lowWatermark === undefined || standing.items === 'committed') return { kind: 'lake', ...lake };
  if (items.version < 0n) return { kind: 'first' };
  if (mode !== 'snapshot') return { kind: 'poll', ...lake };
  return { kind: 'reload', ...lake, isRewritten: hasTooManySites(pipeline, items) };
}
