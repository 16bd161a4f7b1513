import { listStaleReads } from '../../apply/judge-reads.js';
import type { TypedFile } from '../../apply/type-file.js';
import { reportStep } from '../../io/io.js';
import { loadFooterReader } from '../../lake/data-file.js';
import { isSmall } from '../../lake/table-rows.js';
import type { LandedDatasets } from '../../source/datasets.js';
import { FEW_ROWS } from '../../sql/graph.js';
import { compareListingStates } from '../land/compare-listing.js';
import type { LandedInput } from '../land/land-run.js';
import { hydrateRun, landRunDatasets, rereadStale } from '../land/land-run.js';
import type { Run } from '../open/open-run.js';
import { askFacets } from '../prove/compare-facets.js';
import { countReceived } from '../prove/run-record.js';
import { type Batch, compareRun, judgeAgain, judgeRun, mergeRun } from './apply.js';
import { readLandedChanges } from './read-changes.js';
import { fixMoment } from './service-time.js';

/** The applied batch, and what the service has said of itself. */
export interface AppliedRun extends Batch {
  datasets: LandedDatasets;
  /** The service's counts behind a complete copy; undefined where they were not asked for. */
  facets: string | undefined;
}

/** Types what landed, has items read about which it says too little, and applies both to the items so far. */
export async function applyRun(run: Run, landed: LandedInput): Promise<AppliedRun> {
  loadFooterReader().catch(() => {}); // whoever reads a footer gets its error
  const datasets = await landRunDatasets(run);
  const facets = await askFacets(run, landed);
  const batch = await reportStep(run.io, 'typing', () => applyLanded(run, landed, datasets));
  return { ...batch, datasets, facets };
}

async function applyLanded(run: Run, landed: LandedInput, datasets: LandedDatasets): Promise<Batch> {
  const { graph, typing } = run;
  if (isSmallRun(run)) await run.db.useThreads(1);
  const { planned } = landed;
  const read = await readLandedChanges(run, landed, datasets, await typeChanges(run, landed));
  const { lake, pending, reader, names } = read;
  const sources = { reader, items: lake.items, pending_changes: pending };
  const unlisted = await compareListingStates(run, landed, names, sources);
  const typed = await typing.finish();
  const compared = await compareRun(run, landed, read, { typed, unlisted, moment: await fixMoment(run) });
  await hydrateRun(run, planned, compared.needed.wanted);
  const judged = await judgeRun(run, compared, await typing.finish());
  // A read that does not show its changes yet is made once more.
  const hasRead = await rereadStale(run, planned, await listStaleReads(graph, judged.reads));
  return mergeRun(run, landed, hasRead ? await judgeAgain(run, judged, await typing.finish()) : judged);
}

/**
 * True for few changes to a small lake. Its statements are no faster on several threads, and a tenth of the run's CPU
 * time is threads that wait for each other.
 */
function isSmallRun(run: Run): boolean {
  const { files } = run.tables.items;
  return files.length > 0 && isSmall(files, FEW_ROWS) && countReceived(run) <= FEW_ROWS;
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
