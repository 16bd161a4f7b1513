import { createOfflineClient } from '../api/offline-client.js';
import type { Pipeline } from '../config/pipeline-schema.js';
import type { Io, RunStep } from '../io/io.js';
import { type Attribution, readAttributions } from '../lake/attribution.js';
import { compactLake } from '../lake/compact.js';
import { explainDamage } from '../lake/damage.js';
import { explainSystemFault } from '../lake/faults.js';
import type { Lake } from '../lake/lake.js';
import { readPartial } from '../lake/partial.js';
import { refreshPointer } from '../lake/publish.js';
import { relateTable } from '../lake/views.js';
import type { RunCaps } from '../plan/allowance.js';
import type { Database } from '../sql/connection.js';
import type { CheckResult } from '../tables/table.js';
import { applyRun, isUnchanged } from './apply/apply-run.js';
import { deriveRun } from './derive/derive-run.js';
import { isIdle, landRun } from './land/land-run.js';
import { type Deadline, NO_DEADLINE } from './open/deadline.js';
import { dropIdleRun, type OpenOptions, openRun } from './open/open-run.js';
import type { Wings } from './open/wings.js';
import { openPlan } from './plan/open-plan.js';
import { proveRun } from './prove/prove-run.js';
import { describeRun, type RunRow } from './prove/run-record.js';
import { publishRun } from './publish/publish.js';
import { timeTry } from './time-try.js';

/** The outcome of a run. */
export interface RunReport {
  /** False if nothing had changed and no file was written. */
  published: boolean;
  /** True if the run continued an interrupted one. */
  resumed: boolean;
  row: RunRow;
  checks: CheckResult[];
}

export interface SyncOptions {
  /** Only publishes the batch that a failed gate holds, without a call. */
  publishHeld?: boolean;
  /** The time after which the run stops at the next point where that loses nothing. */
  deadline?: Deadline;
  caps?: RunCaps;
  /** Creates the client; by default, one for the pipeline's service. */
  connect?: OpenOptions['connect'];
  /** The wings that plug into the run; by default none. */
  wings?: Wings;
  /** Called with the seconds of each step, even of a failed one. */
  onStep?: (step: RunStep, seconds: number) => void;
}

/**
 * The story of a run: open the lake, plan, land what is new by the plan, and apply it to the rows so far. Then derive the
 * tables of the next version beside the lake, prove them, and publish. Each step takes the values of those before it.
 * The journal has all that lasts, so a run that was stopped anywhere continues from there.
 * @throws PricelakeError `disk_full`, `open_files`, `out_of_memory` or `lake_read_only` for what the machine refuses,
 *   `lake_invalid` for damaged files of tables, and what the steps throw
 */
export function syncPipeline(
  pipeline: Pipeline,
  io: Io,
  signal?: AbortSignal,
  options: SyncOptions = {},
): Promise<RunReport> {
  const { path } = pipeline.lake;
  return explainSystemFault(path, () => explainDamage(path, () => syncLake(pipeline, io, signal, options)));
}

async function syncLake(
  pipeline: Pipeline,
  io: Io,
  signal: AbortSignal | undefined,
  { publishHeld = false, deadline = NO_DEADLINE, connect = deadline.connect, caps = {}, onStep, wings }: SyncOptions,
): Promise<RunReport> {
  const { step, remember } = timeTry(io, onStep);
  const opening = publishHeld
    ? { connect: () => createOfflineClient('--publish-held'), requiresHeld: true }
    : { connect };
  const opened = await step('open', () => openRun(pipeline, deadline.limitIo(io), { signal, wings, ...opening }));
  const { world, found, ledger, engine, lock, stop, resumed } = opened;
  const pause = () => {
    stop.throwIfAborted();
    deadline.check();
  };
  const endIdle = async (row: RunRow): Promise<RunReport> => {
    await dropIdleRun(world, found.lake, ledger);
    await ledger.memory.append({ type: 'idle', row });
    await refreshPointer(found.lake, await readCredits(engine.graph.db, found.lake));
    return { published: false, resumed, row, checks: [] };
  };
  const makeSteps = async (): Promise<RunReport> => {
    const planned = await step('plan', () => openPlan(world, found, ledger, engine.graph, caps));
    const landed = await step('land', () => landRun(world, found, ledger, engine, planned));
    if (await isIdle(found, ledger.landing, landed)) {
      return endIdle(await describeRun(world, found, ledger.landing, landed));
    }
    pause();
    const applied = await step('apply', () => applyRun(world, found, ledger, engine, landed));
    pause();
    if (await isUnchanged(found, applied)) {
      return endIdle(await describeRun(world, found, ledger.landing, landed, { tally: applied.tally, applied }));
    }
    const derived = await step('derive', () => deriveRun(world, found, ledger, engine, applied));
    const proved = await step('prove', () =>
      proveRun(world, found, ledger, engine, { derived, isWaived: publishHeld }),
    );
    pause();
    await step('publish', async () => {
      await wings?.store?.saveLanding();
      await publishRun(world, found, ledger, engine.graph, proved);
      await wings?.store?.publish();
    });
    // Joins the small files of tables that have many. Costs nothing if there are few.
    const targetBytes = pipeline.lake.targetFileSize;
    const compact = () => compactLake(engine.graph.db, found.lake, 'due', world.io, { stop, targetBytes });
    if (!deadline.hasPassed()) await step('compact', compact);
    return { published: true, resumed, row: proved.row, checks: proved.checks };
  };
  try {
    return await remember(opened, () => lock.explainLoss(makeSteps));
  } finally {
    await opened.close();
  }
}

/** Undefined if reading them would fetch files. */
async function readCredits(db: Database, lake: Lake): Promise<Attribution[] | undefined> {
  if ((await readPartial(lake)) !== undefined) return undefined;
  return readAttributions(db, await relateTable(db, lake, 'sites'));
}
