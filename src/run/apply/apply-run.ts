import { findPendingChanges, readChanges } from '../../apply/changes.js';
import {
  type DatasetName,
  findRenamedDatasets,
  listDatasetNames,
  readKnownDatasets,
  writeDatasetPattern,
} from '../../apply/dataset-names.js';
import { listStaleReads } from '../../apply/judge-reads.js';
import type { NextSources } from '../../apply/sources.js';
import type { TypedFile } from '../../apply/type-file.js';
import { countTyped, ItemReader } from '../../apply/typed-rows.js';
import { openStep, reportStep } from '../../io/io.js';
import { readPublishable } from '../../journal/landings.js';
import { isPublishable, type Publishable, sumLanded } from '../../journal/run-state.js';
import { loadFooterReader } from '../../lake/data-file.js';
import { isSmall } from '../../lake/table-rows.js';
import type { CopyVerdict } from '../../plan/judge-copy.js';
import type { LandedDatasets } from '../../source/datasets.js';
import { FEW_ROWS } from '../../sql/graph.js';
import { establishListing } from '../land/establish-listing.js';
import { askFacets } from '../land/land-comparisons.js';
import type { LandedInput } from '../land/land-run.js';
import { hydrateRun, landRunDatasets, rereadStale } from '../land/land-run.js';
import { proveCopy } from '../land/prove-copy.js';
import { isComplete } from '../open/at-rest.js';
import { readLakeSelection } from '../open/dataset-selection.js';
import { noteCalls, type Run } from '../open/open-run.js';
import { type Batch, compareRun, type FoundRows, judgeAgain, judgeRun, mergeRun, type ReadChanges } from './apply.js';
import { isDistrusted, lookAtTold } from './look-at-told.js';
import { findNextSources } from './seen-sources.js';
import { fixMoment } from './service-time.js';

/** The applied batch, and what the service has said of itself. */
export interface AppliedRun extends Batch {
  sources: NextSources;
  datasets: LandedDatasets;
  /** Items of the sample that only the feed described, and that were read already. */
  toldSample: readonly bigint[];
  /** The service's counts behind a complete copy; undefined where they were not asked for. */
  facets: string | undefined;
}

/** Types what landed, has items read about which it says too little, and applies both to the items so far. */
export async function applyRun(run: Run, landed: LandedInput): Promise<AppliedRun> {
  loadFooterReader().catch(() => {}); // whoever reads a footer gets its error
  const datasets = await landRunDatasets(run, landed);
  const facets = await askFacets(run, landed);
  const batch = await applyLanded(run, landed, datasets, facets);
  return { ...batch, datasets, facets };
}

/** True when whole rows were read that show what the lake holds already, and no source was seen since: no file has to be written. */
export async function isUnchanged(
  run: Run,
  { merge, sites, sources, stale, tally, newChanges, comparison }: AppliedRun,
): Promise<boolean> {
  const isSame =
    merge.change.rows === undefined &&
    sites.changed === undefined &&
    sources.changed === undefined &&
    stale.rows === undefined &&
    tally.rejected === 0n &&
    newChanges === 0n;
  if (!isSame || !isSelectionNoted(run) || comparison.differences + comparison.missed > 0n) return false;
  return isComplete(run);
}

/** The lake notes what the run is a copy of. */
function isSelectionNoted({ selection, tables, landing }: Run): boolean {
  if ((landing.journal.state.decision?.added ?? []).length > 0) return false;
  return String(readLakeSelection(tables.items) ?? '') === String(selection);
}

/** The row equation as it was before anything was published: a later try finds rows in place and would miscount. */
export async function settleTally(run: Run, counted: Batch['tally']): Promise<Publishable> {
  const { landing, io } = run;
  if (!isPublishable(landing.journal.state)) {
    // Counted as the bytes landed, not from the tables: the row equation compares the two.
    const tally = { received: sumLanded(landing.journal.state).rows, ...counted };
    await landing.journal.append({ type: 'tally', ...tally }, noteCalls(run));
    io.log('debug', 'settled', { ...tally });
  }
  return readPublishable(landing);
}

async function applyLanded(
  run: Run,
  landed: LandedInput,
  datasets: LandedDatasets,
  facets: string | undefined,
): Promise<Omit<AppliedRun, 'datasets' | 'facets'>> {
  if (isSmallRun(run)) await run.db.useThreads(1);
  const step = openStep(run.io, 'typing', { totalRows: sumLanded(run.landing.journal.state).rows });
  const changes = await typeChanges(run, landed);
  step.add(
    changes.reduce((sum, { rows }) => sum + BigInt(rows), 0n),
    0,
  );
  const read = await readLandedChanges(run, landed, datasets, changes);
  const { lake, pending, reader, names } = read;
  const moment = await fixMoment(run);
  const provesAbsence = await proveWholeRows(run, landed, read, { facets, at: moment.serviceAt ?? moment.at });
  const sources = { reader, items: lake.items, pending_changes: pending };
  await establishListing(run, landed, names, sources);
  const unlisted = [...run.landing.journal.state.listing.gone];
  const itemFiles = await run.typing.finish();
  const distrusted = await isDistrusted(run, landed);
  const found = { unlisted, provesAbsence, moment };
  step.done();
  return reportStep(run.io, 'merging', () =>
    mergeRead(run, landed, read, { ...found, itemFiles, isDistrusted: distrusted }),
  );
}

/** Judges if known items that a complete copy lacks are gone. */
async function proveWholeRows(
  run: Run,
  landed: LandedInput,
  { lake, pending, changes, reader, names }: ReadChanges,
  { facets, at }: { facets: string | undefined; at: string },
): Promise<CopyVerdict['provesAbsence']> {
  if (landed.mode !== 'snapshot') return { listed: false, removed: false };
  const files = await run.typing.finish();
  const exported = await reader.exported(files);
  const copy = { exported, landedRows: countTyped(files), items: lake.items, changes: changes.typed, pending, names };
  return (await proveCopy(run, landed, { ...copy, facets, at })).provesAbsence;
}

/** Has the items read that are needed, and merges all into the items so far. */
async function mergeRead(run: Run, landed: LandedInput, read: ReadChanges, found: FoundRows) {
  const { graph, typing } = run;
  const { account } = landed;
  const first = await compareRun(run, landed, read, found);
  const told = found.isDistrusted ? undefined : await lookAtTold(run, landed, first);
  const isPartial = told?.isPartial === true;
  const compared = isPartial ? await compareRun(run, landed, read, { ...found, isDistrusted: true }) : first;
  await hydrateRun(run, account, compared.needed.wanted);
  const judged = await judgeRun(run, compared, await typing.finish());
  // A read that does not show its changes yet is made once more.
  const hasRead = await rereadStale(run, account, await listStaleReads(graph, judged.reads));
  const last = hasRead ? await judgeAgain(run, judged, await typing.finish()) : judged;
  const batch = await mergeRun(run, landed, last);
  return { ...batch, sources: await findNextSources(run, landed, last, batch), toldSample: told?.ids ?? [] };
}

/**
 * True for few changes to a small lake. Its statements are no faster on several threads, and a tenth of the run's CPU
 * time is threads that wait for each other.
 */
function isSmallRun(run: Run): boolean {
  const { files } = run.tables.items;
  return files.length > 0 && isSmall(files, FEW_ROWS) && sumLanded(run.landing.journal.state).rows <= FEW_ROWS;
}

async function typeChanges({ typing }: Run, { feed, events, backfill }: LandedInput): Promise<TypedFile[]> {
  const landed = [
    ...(feed === undefined ? [] : [{ ...feed, origin: 'feed' as const }]),
    { ...events, origin: 'webhook' as const },
    { ...backfill, origin: 'history' as const },
  ];
  const files: TypedFile[] = [];
  for (const { file, changes, origin } of landed) {
    if (changes > 0) files.push(await typing.typeChanges({ path: file, rows: changes, origin }));
  }
  return files;
}

/** Reads the landed changes, and finds those that are not yet in items. */
async function readLandedChanges(
  run: Run,
  landed: LandedInput,
  listed: LandedDatasets,
  changeFiles: readonly TypedFile[],
): Promise<ReadChanges> {
  const { graph, before, landing, selection } = run;
  const lake = {
    ...{ items: await before.rows('items'), history: await before.rows('history') },
    stale_items: await before.rows('stale_items'),
    ...{ sites: await before.rows('sites'), runs: await before.rows('runs') },
  };
  const { window } = landed;
  const changes = await readChanges(graph, changeFiles, window, lake, {
    runId: landing.runId,
    isSelected: selection !== 'all',
  });
  const pending = findPendingChanges(graph, window, changes, lake);
  const known = await readKnownDatasets(graph, await before.rows('datasets'));
  const datasetPattern = writeDatasetPattern([...listed.datasets, ...known].map(({ name }) => name));
  return {
    ...{ lake, changeFiles, changes, pending, datasetPattern },
    names: listDatasetNames(listed.datasets, known, isListWhole(run, listed, known)),
    renames: findRenamedDatasets(known, listed.datasets),
    reader: new ItemReader(graph, datasetPattern),
  };
}

/**
 * True if items can be in no dataset beside those of the list: what else an item was in, it is in no longer. With a key
 * that reads none of the known datasets, nothing is known of these.
 */
function isListWhole(
  { selection }: Run,
  { datasets, locked }: Pick<LandedDatasets, 'datasets' | 'locked'>,
  known: readonly DatasetName[],
): boolean {
  const isListed = (id: bigint) => datasets.some((one) => one.id === id);
  return selection === 'all' ? locked === 0 && known.some(({ id }) => isListed(id)) : selection.every(isListed);
}
