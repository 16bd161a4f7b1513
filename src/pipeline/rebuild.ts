import { rm } from 'node:fs/promises';
import { PricelakeError } from '../errors.js';
import type { Io } from '../io.js';
import { type Lake, openLake } from '../lake/lake.js';
import { privatePath } from '../lake/layout.js';
import { readTable } from '../lake/read.js';
import { type LandedRun, listLandedRuns } from '../landing/landing.js';
import { TXN_CURSOR, TXN_RUN } from '../model.js';
import { keepGoneItems, readRunFacts, seedTables } from './keep-rows.js';
import { type LockedLake, withLockedLake } from './locked-lake.js';
import type { Pipeline } from './pipeline-file.js';
import { planRebuild, type RebuildPlan } from './plan-rebuild.js';
import { replayRun } from './replay-run.js';
import { type SwappedTable, swapTables } from './swap-tables.js';

/** What a rebuild did. */
export interface RebuildReport {
  /** Runs that were done again, in order. */
  runs: string[];
  tables: SwappedTable[];
}

/**
 * Makes every table anew from the kept raw bytes, without a call: the runs are done again into a lake of their own
 * inside `_pricelake/rebuild`, whose files then take the place of the old ones, table by table. Until a table's commit
 * the old one stands; a rebuild that was cut off is done again from its beginning, or forgotten by the next run.
 * @throws PricelakeError `landing_gone` when the kept bytes do not suffice, `gate_failed` when a gate that nobody let
 * through fails; the tables then stay as they were.
 */
export function rebuildLake(pipeline: Pipeline, io: Io, signal: AbortSignal): Promise<RebuildReport> {
  return withLockedLake(pipeline.lake.path, io, signal, async (locked) => {
    const { lake, stop } = locked;
    const landed = await listLandedRuns(lake.root);
    await refuseHalfPublished(lake, landed);
    const cursor = (await readTable(lake, 'history')).txn[TXN_CURSOR];
    const plan = planRebuild(landed, await readRunFacts(locked), cursor);
    const rebuilt = await openLake(privatePath(lake, 'rebuild'), { create: true });
    await replayRuns(locked, rebuilt, plan, pipeline, io);
    stop.throwIfAborted();
    const tables = await swapTables(locked, rebuilt, plan, io);
    await rm(rebuilt.root, { recursive: true, force: true });
    return { runs: plan.runs.map(({ runId }) => runId), tables };
  });
}

/** Tables that a run has published in part are not all at one cursor: it has to be gone on with first. */
async function refuseHalfPublished(lake: Lake, landed: readonly LandedRun[]): Promise<void> {
  const open = landed.findLast(({ journal }) => journal.last('end') === undefined);
  const { txn } = await readTable(lake, 'history');
  if (open === undefined || (txn[TXN_RUN] ?? 0n) < open.runNumber) return;
  throw new PricelakeError('landing_gone', `run ${open.runId} was interrupted while it published its tables`, {
    hint: 'Run `pricelake sync` first: it goes on with that run.',
  });
}

async function replayRuns(
  locked: LockedLake,
  rebuilt: Lake,
  plan: RebuildPlan,
  pipeline: Pipeline,
  io: Io,
): Promise<void> {
  await seedTables(locked, rebuilt, plan, io);
  let done = 0n;
  for (const run of plan.runs) {
    locked.stop.throwIfAborted();
    await replayRun(run, rebuilt, pipeline, { ...io, progress: () => {} }, locked.stop);
    if (done === 0n && !plan.isWhole) await keepGoneItems(locked, rebuilt, plan, io);
    done += 1n;
    io.progress({ step: 'rebuild', rows: done, totalRows: BigInt(plan.runs.length), bytes: 0 });
    io.log('debug', 'replayed', { runId: run.runId });
  }
}
