import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createOfflineClient } from '../../api/offline-client.js';
import type { Pipeline } from '../../config/pipeline.js';
import { makeFolder } from '../../io/durable.js';
import { PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { type KeptRuns, linkRun, listSoundRuns } from '../../journal/kept-runs.js';
import type { LandedRun } from '../../journal/landings.js';
import { readSelection } from '../../journal/run-state.js';
import { type DamagedLake, withDamagedLake } from '../../lake/damaged-lake.js';
import type { Inspection } from '../../lake/inspect-lake.js';
import { openLake, writeMarker } from '../../lake/lake.js';
import type { LockedLake } from '../../lake/locked-lake.js';
import { refusePartial } from '../../lake/partial.js';
import { recoverLake } from '../../lake/recover.js';
import { dropRebuild, rebuildPath } from '../../lake/swap-lake.js';
import { type Lake, privatePath } from '../../tables/layout.js';
import { checkLanding } from '../../verify/check-landing.js';
import { NO_WINGS, type Wings } from '../open/wings.js';
import { syncPipeline } from '../sync.js';
import { findLosses, keepGoneItems, readLedgerRuns, refuseLosses, seedDeclared, seedTables } from './carry-forward.js';
import { OldTables } from './old-tables.js';
import { type LedgerRun, planRebuild, type Rebuild, type RebuildPlan } from './plan-rebuild.js';
import { replaceTables, type SwappedTable, swapTables } from './replace-tables.js';
import { restoreTables } from './restore-tables.js';

/** The optional modules that take part in a replay. */
type ReplayWings = Omit<Wings, 'store' | 'sources'>;

interface RebuildOptions {
  /** True to continue even if rows are lost because the saved raw data can't restore them. */
  acceptLoss?: boolean | undefined;
  /** The modules whose tables are rebuilt as well. */
  wings?: ReplayWings;
}

interface RebuildReport {
  /** The ids of the replayed runs, in order. */
  runs: string[];
  tables: SwappedTable[];
  damage: string[];
  /** A sentence for each table that was read without its log. */
  carried: string[];
  lost: string[];
}

/**
 * Rebuilds every table from the saved raw data, without calls. Replays the runs into `_pricelake/rebuild`. Then
 * replaces the files of each table or, if any table is damaged, all tables and their logs. After an interruption, the
 * function can be called again. If raw data is missing, and another program's changes are the only damage, restores the
 * files of the newest run.
 * @throws PricelakeError `landing_gone` if raw data is missing, `lake_invalid` if rows would be lost that only a
 * damaged table has, `gate_failed` if a gate fails. In these cases, the tables stay unchanged
 */
export function rebuildLake(
  pipeline: Pipeline,
  io: Io,
  signal: AbortSignal,
  { acceptLoss = false, wings = NO_WINGS }: RebuildOptions = {},
): Promise<RebuildReport> {
  const { path, memory } = pipeline.lake;
  const rebuild = async ({ lake, db, stop }: LockedLake, inspection: DamagedLake) => {
    await refusePartial(lake);
    const { damaged, pointerDamage, markerDamage } = inspection;
    const old = new OldTables(lake, db, inspection);
    const landed = await listSoundRuns(lake.root, readPublished(inspection));
    let planned: Awaited<ReturnType<typeof planFromSound>>;
    try {
      planned = await planFromSound(old, landed, damaged.size > 0);
    } catch (error) {
      const restored = isLandingGone(error) ? await restoreTables(lake, inspection, acceptLoss, io) : undefined;
      if (restored === undefined) throw error;
      return { ...restored, runs: [], damage: [...damaged.values()], carried: [] };
    }
    const { plan, faults } = planned;
    const losses = await findLosses(old, plan, pipeline);
    if (!acceptLoss) refuseLosses(losses);
    // The lake changes from here on. Removes a damaged lake.json first, because the following steps would refuse it.
    await makeFolder(privatePath(lake, 'tmp'));
    if (pointerDamage !== undefined) await rm(join(lake.root, 'lake.json'), { force: true });
    if (damaged.size === 0) await recoverLake(lake, io);
    await dropRebuild(lake);
    const rebuilt = await openLake(rebuildPath(lake), { create: true });
    const rebuild = { old, rebuilt, plan, io };
    await replayRuns(rebuild, pipeline, wings, stop);
    stop.throwIfAborted();
    const tables = damaged.size === 0 ? await swapTables(rebuild) : await replaceTables(rebuild, landed.open?.runId);
    await rm(rebuilt.root, { recursive: true, force: true });
    // Writes the format's marker last. Until all tables are replaced, the marker must match the old format.
    await writeMarker(lake);
    return {
      runs: plan.runs.map(({ runId }) => runId),
      tables,
      damage: [...new Set([markerDamage, pointerDamage, ...damaged.values(), ...faults])].filter(
        (what) => what !== undefined,
      ),
      carried: old.carried,
      lost: [...losses, ...(await describeLostLedger(old))],
    };
  };
  return withDamagedLake(path, io, signal, rebuild, memory);
}

const isLandingGone = (error: unknown) => error instanceof PricelakeError && error.code === 'landing_gone';

/** Returns the number of the newest published run, according to the runs table and lake.json. */
function readPublished({ states, pointer }: Inspection): bigint {
  const [ledger, pointed] = [states.get('runs')?.applied.run ?? 0n, pointer?.runNumber ?? 0n];
  return ledger > pointed ? ledger : pointed;
}

/** Chooses the runs to replay from the runs whose raw data is intact. */
async function planFromSound(
  old: OldTables,
  { runs, open, damaged }: KeptRuns,
  isDamaged: boolean,
): Promise<{ plan: RebuildPlan; faults: string[] }> {
  const cursor = readCursor(old, open, isDamaged);
  const facts = await readLedgerRuns(old);
  const faults = [...damaged];
  const sound = new Set<string>();
  let left = runs;
  for (;;) {
    const plan = planNaming(left, facts, cursor, faults);
    const before = faults.length;
    for (const { runId, folder } of plan.runs.filter((run) => !sound.has(run.runId))) {
      const found = (await checkLanding(folder)).faults;
      if (found.length === 0) sound.add(runId);
      else left = left.filter((run) => run.runId !== runId);
      faults.push(...found.map(({ file, what }) => `${join(folder, file)} ${what}`));
    }
    if (faults.length === before) return { plan, faults };
  }
}

function planNaming(
  runs: KeptRuns['runs'],
  facts: readonly LedgerRun[] | undefined,
  cursor: ReturnType<OldTables['readCursor']>,
  faults: readonly string[],
): RebuildPlan {
  try {
    return planRebuild(runs, facts, cursor);
  } catch (error) {
    if (!(error instanceof PricelakeError) || faults.length === 0) throw error;
    throw new PricelakeError(error.code, `${error.message}; damaged: ${faults.join('; ')}`, error.facts);
  }
}

/**
 * Returns the cursor that the saved runs must reach. If a run was interrupted during publication, an undamaged lake
 * must be synced first, so the function throws. In a damaged lake, that run continues after the rebuild.
 */
function readCursor(old: OldTables, open: LandedRun | undefined, isDamaged: boolean) {
  const committed = old.readApplied('history')?.run ?? 0n;
  if (open === undefined || committed < open.runNumber) return old.readCursor();
  if (isDamaged) return open.state.begin.cursorFrom ?? undefined;
  throw new PricelakeError('landing_gone', `run ${open.runId} was interrupted while it published its tables`, {
    hint: 'Run `pricelake sync` first, which continues that run.',
  });
}

async function replayRuns(rebuild: Rebuild, pipeline: Pipeline, wings: ReplayWings, stop: AbortSignal): Promise<void> {
  const { rebuilt, plan, io } = rebuild;
  const replay = {
    connect: () => createOfflineClient('rebuild'),
    wings: { ...wings, sources: [] },
  };
  await seedTables(rebuild);
  if (pipeline.keepsDeclared === true) await seedDeclared(rebuild);
  let done = 0n;
  for (const run of plan.runs) {
    stop.throwIfAborted();
    const settings = describeReplay(run, rebuilt, pipeline);
    await linkRun(run, rebuilt.root);
    await syncPipeline(settings, { ...io, progress: () => {} }, stop, replay);
    if (done === 0n && !plan.isWhole) await keepGoneItems(rebuild);
    done += 1n;
    io.progress({ step: 'rebuild', rows: done, totalRows: BigInt(plan.runs.length), bytes: 0 });
    io.log('debug', 'replayed', { runId: run.runId });
  }
}

/**
 * Builds the pipeline that replays a saved run into another lake. The replay copies the datasets that the run copied,
 * even if the settings have changed since.
 */
function describeReplay(run: LandedRun, { root }: Lake, pipeline: Pipeline): Pipeline {
  return {
    ...pipeline,
    source: {
      ...pipeline.source,
      datasets: readSelection(run.state.begin),
      history: readHistorySetting(run),
      products: run.state.comparisons.allProducts === true ? 'all' : 'none',
    },
    lake: { ...pipeline.lake, path: root, remote: undefined, retention: 0 },
    landing: { ...pipeline.landing, keep: Number.MAX_SAFE_INTEGER },
  };
}

/**
 * Infers the setting `source.history` from the feed position at which the run started. `feed` means from the beginning
 * of the feed, `none` means near the newest change. Item histories need no setting, because they are landed files.
 */
function readHistorySetting({ state: { feed, watermark } }: LandedRun): 'feed' | 'none' {
  return feed.starts.includes(0n) && watermark?.cursor !== 0n ? 'feed' : 'none';
}

/** Describes damaged tables that only record runs. A rebuild doesn't need them, because they hold no service data. */
async function describeLostLedger(old: OldTables): Promise<string[]> {
  const lost: string[] = [];
  for (const table of ['runs', 'check_results'] as const) {
    if ((await old.open(table)) === 'whole') continue;
    const what = table === 'runs' ? 'the cost of runs, and the rows of runs that found nothing new' : 'check results';
    lost.push(`${table}: ${what} (${old.explain(table)})`);
  }
  return lost;
}
