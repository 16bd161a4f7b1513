import { openStep, reportStep } from '../../io/io.js';
import { type Landing, readPublishable } from '../../journal/landings.js';
import { isPublishable, type Publishable, sumLanded } from '../../journal/run-state.js';
import type { Tables } from '../../lake/read.js';
import { isSmall, type LakeRows } from '../../lake/table-rows.js';
import type { LandedDatasets } from '../../source/datasets.js';
import { FEW_ROWS, type RelationGraph } from '../../sql/graph.js';
import type { DatasetSelection } from '../../tables/table.js';
import {
  type DatasetName,
  findRenamedDatasets,
  listDatasetNames,
  readKnownDatasets,
  writeDatasetPattern,
} from '../../typing/dataset-names.js';
import type { TypedFile } from '../../typing/type-file.js';
import { ItemReader } from '../../typing/typed-rows.js';
import type { TypingQueue } from '../../typing/typing-queue.js';
import { hydrateRun, type LandedInput, landRunDatasets, rereadStale } from '../land/land-run.js';
import { isComplete } from '../open/at-rest.js';
import { readLakeSelection } from '../open/dataset-selection.js';
import { noteCalls } from '../open/open-run.js';
import type { Engine, FoundLake, Ledger, World } from '../open/run-parts.js';
import type { Absence, ListedRun } from '../open/wings.js';
import { compareRun, type FoundRows, judgeAgain, judgeRun, type ReadChanges } from './apply.js';
import { findPendingChanges, readChanges } from './changes.js';
import { compareDescribed, isDistrusted } from './compare-described.js';
import { listStaleReads } from './judge-reads.js';
import { type Batch, mergeRun } from './merge-run.js';
import { fixMoment } from './moment.js';
import { findNextSources } from './seen-sources.js';
import type { NextSources } from './sources.js';

/** The result of applying the landed data: each table's change, and the service's data about sources and datasets. */
export interface AppliedRun extends Batch {
  landed: LandedInput;
  sources: NextSources;
  datasets: LandedDatasets;
  /** The ids of sampled items whose new values came only from changes. The run has already read them in full. */
  describedSample: readonly bigint[];
}

/** Types the landed rows, reads items whose changes don't contain all values, and applies changes and rows to items. */
export async function applyRun(
  world: World,
  found: FoundLake,
  ledger: Ledger,
  engine: Engine,
  landed: LandedInput,
): Promise<AppliedRun> {
  const { io } = world;
  const { landing } = ledger;
  const datasets = await landRunDatasets(world, landing, landed.account);
  await world.listing?.ask(world, landing, landed.plan);
  const totalRows = sumLanded(landing.journal.state).rows;
  if (isSmallRun(found.tables, totalRows)) await engine.graph.db.useThreads(1);
  const step = openStep(io, { step: 'apply', part: 'typing', totalRows });
  const changeFiles = await typeChanges(engine.typing, landed);
  const rows = changeFiles.reduce((sum, file) => sum + BigInt(file.rows), 0n);
  step.add(rows, 0);
  const read = await readLandedChanges(found.before, engine.graph, landed, datasets, changeFiles);
  const moment = await fixMoment(world, landing);
  const provesAbsence = await establishAbsence(world, found, landing, engine, {
    ...read,
    datasets: datasets.datasets,
    moment,
  });
  const unlisted = [...landing.journal.state.listing.gone];
  const itemFiles = await engine.typing.finish();
  const distrusted = await isDistrusted(io, ledger, landed);
  step.done();
  const whole = { ...read, unlisted, provesAbsence, moment, itemFiles, isDistrusted: distrusted };
  const batch = await reportStep(io, { step: 'apply', part: 'merge' }, () =>
    mergeRead(world, found, ledger, engine, whole),
  );
  return { ...batch, landed, datasets };
}

/** True if the run found nothing new, so that it needn't write any table. */
export async function isUnchanged(
  found: FoundLake,
  { landed, merge, sites, sources, stale, tally, newChanges, comparison }: AppliedRun,
): Promise<boolean> {
  const isSame =
    merge.change.rows === undefined &&
    sites.changed === undefined &&
    sources.changed === undefined &&
    stale.rows === undefined &&
    tally.rejected === 0n &&
    newChanges === 0n;
  if (!isSame || !isSelectionNoted(found.tables, landed) || comparison.differences + comparison.missed > 0n)
    return false;
  return isComplete(found);
}

/** True if the lake already records the datasets that the run copies. */
function isSelectionNoted(tables: Tables, { added, selection }: LandedInput): boolean {
  return added.length === 0 && String(readLakeSelection(tables.items) ?? '') === String(selection);
}

/** Journals the row counts before publication, because a later attempt would miscount rows that are already stored. */
export async function settleTally(
  { io, client }: World,
  landing: Landing,
  counted: Batch['tally'],
): Promise<Publishable> {
  if (!isPublishable(landing.journal.state)) {
    // Takes the received rows from the journal, so that the row-count check compares independently counted rows.
    const tally = { received: sumLanded(landing.journal.state).rows, ...counted };
    await landing.journal.append({ type: 'tally', ...tally }, noteCalls(client));
    io.log('debug', 'settled', { ...tally });
  }
  return readPublishable(landing);
}

/** Determines whether the service still has the items that a complete copy doesn't contain. */
async function establishAbsence(
  { client, io, look, listing }: World,
  found: FoundLake,
  landing: Landing,
  { graph, typing }: Engine,
  { lake: { items }, changes, ...read }: ReadChanges & Pick<ListedRun, 'datasets' | 'moment'>,
): Promise<Absence> {
  const run = { client, io, look, found, landing, graph, typing, items, changes: changes.typed, ...read };
  return (await listing?.establish(run)) ?? { listed: false, removed: false };
}

/** Reads the items that must be read in full, and merges all rows into the items table. */
async function mergeRead(world: World, found: FoundLake, ledger: Ledger, engine: Engine, rows: FoundRows) {
  const { graph, typing } = engine;
  const { io } = world;
  const { landing } = ledger;
  const { landed } = rows;
  const first = await compareRun(io, found, engine, rows);
  const described = rows.isDistrusted ? undefined : await compareDescribed(world, ledger, first);
  const isPartial = described?.isPartial === true;
  const compared = isPartial ? await compareRun(io, found, engine, { ...rows, isDistrusted: true }) : first;
  const { wanted: need } = compared.needed;
  await hydrateRun(world, landing, typing, landed, { need, source: found.pipeline.source });
  const judged = await judgeRun(graph, compared, await typing.finish());
  const hasRead = await rereadStale(world, landing, typing, landed.account, await listStaleReads(graph, judged.reads));
  const last = hasRead ? await judgeAgain(graph, judged, await typing.finish()) : judged;
  const batch = await mergeRun(io, found.before, graph, last);
  const sources = await findNextSources(found, graph, landing, last, batch.merge);
  return { ...batch, sources, describedSample: described?.ids ?? [] };
}

/**
 * True if the lake is small and few rows have landed. Such a run uses one thread. More threads wouldn't make it faster
 * and would spend a tenth of the CPU time waiting for each other.
 */
function isSmallRun({ items: { files } }: Tables, landed: bigint): boolean {
  return files.length > 0 && isSmall(files, FEW_ROWS) && landed <= FEW_ROWS;
}

async function typeChanges(typing: TypingQueue, { feed, brought }: LandedInput): Promise<TypedFile[]> {
  const landed = [...(feed === undefined ? [] : [{ ...feed, origin: 'feed' as const }]), ...brought];
  const files: TypedFile[] = [];
  for (const { file, changes, origin } of landed) {
    if (changes > 0) files.push(await typing.typeChanges({ path: file, rows: changes, origin }));
  }
  return files;
}

async function readLandedChanges(
  before: LakeRows,
  graph: RelationGraph,
  landed: LandedInput,
  listed: LandedDatasets,
  changeFiles: readonly TypedFile[],
): Promise<ReadChanges> {
  const lake = {
    ...{ items: await before.rows('items'), history: await before.rows('history') },
    stale_items: await before.rows('stale_items'),
    ...{ sites: await before.rows('sites'), runs: await before.rows('runs') },
  };
  const { window, selection, runId } = landed;
  const changes = await readChanges(graph, changeFiles, window, lake, {
    runId,
    isSelected: selection !== 'all',
  });
  const pending = findPendingChanges(graph, window, changes, lake);
  const known = await readKnownDatasets(graph, await before.rows('datasets'));
  const datasetPattern = writeDatasetPattern([...listed.datasets, ...known].map(({ name }) => name));
  return {
    ...{ landed, lake, changeFiles, changes, pending, datasetPattern },
    names: listDatasetNames(listed.datasets, known, isListWhole(selection, listed, known)),
    renames: findRenamedDatasets(known, listed.datasets),
    reader: new ItemReader(graph, datasetPattern),
  };
}

/**
 * True if the key can read all selected datasets, so an item in none of them is gone from the service. If all datasets
 * are selected, the plan must not lock any, and the key must still read a dataset that the lake knows.
 */
function isListWhole(
  selection: DatasetSelection,
  { datasets, locked }: Pick<LandedDatasets, 'datasets' | 'locked'>,
  known: readonly DatasetName[],
): boolean {
  const isListed = (id: bigint) => datasets.some((one) => one.id === id);
  return selection === 'all' ? locked === 0 && known.some(({ id }) => isListed(id)) : selection.every(isListed);
}
