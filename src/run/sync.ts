import { createOfflineClient } from '../api/offline-client.js';
import type { Pipeline } from '../config/pipeline.js';
import type { Io, RunStep } from '../io/io.js';
import { readCredits } from '../lake/attribution.js';
import { refreshPointer } from '../lake/publish.js';
import type { RunCaps } from '../plan/allowance.js';
import type { CheckResult } from '../tables/table.js';
import { applyRun, isUnchanged } from './apply/apply-run.js';
import { deriveRun } from './derive/derive-run.js';
import { isIdle, landRun } from './land/land-run.js';
import { type Deadline, NO_DEADLINE } from './open/deadline.js';
import { dropIdleRun, type OpenOptions, openRun } from './open/open-run.js';
import { NO_WINGS, type Wings } from './open/wings.js';
import { openPlan } from './plan/open-plan.js';
import { proveRun } from './prove/prove-run.js';
import { describeRun, type RunRow } from './prove/run-record.js';
import { publishRun } from './publish/publish.js';
import { timeTry } from './time-try.js';

/** The outcome of a run. */
export interface RunReport {
  /** False if nothing had changed, so that no file was written. */
  published: boolean;
  /** True if the run continued an interrupted one. */
  resumed: boolean;
  row: RunRow;
  checks: CheckResult[];
}

export interface SyncOptions {
  /** True to only publish the batch that a failed gate holds, without making calls. */
  publishHeld?: boolean;
  /** The time after which the run stops at the next point where stopping loses no work. */
  deadline?: Deadline;
  caps?: RunCaps;
  /** Creates the client; by default, a client for the pipeline's service. */
  connect?: OpenOptions['connect'];
  /** The optional modules of the run; by default none. */
  wings?: Wings;
  /** Called with the duration of each step in seconds, even if the step failed. */
  onStep?: (step: RunStep, seconds: number) => void;
}

/**
 * Runs a pipeline once: opens the lake, plans, lands new data, and applies it to the existing rows. Then derives the
 * tables of the next version beside the lake, checks them, and publishes them. Each step receives the results of
 * earlier steps. All lasting state is in the journal, so a run can resume wherever it was stopped.
 * @throws PricelakeError from its steps. Errors of the machine and of damaged files are explained by the caller
 * (src/wings/index.ts)
 */
export async function syncPipeline(
  pipeline: Pipeline,
  io: Io,
  signal?: AbortSignal,
  options: SyncOptions = {},
): Promise<RunReport> {
  const { publishHeld = false, deadline = NO_DEADLINE, connect = deadline.connect, caps = {} } = options;
  const { onStep, wings = NO_WINGS } = options;
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
    // With a store, the files would have to be downloaded.
    const credits = wings.store === undefined ? readCredits(engine.graph, await found.before.rows('sites')) : undefined;
    await refreshPointer(found.lake, await credits);
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
      await wings.store?.saveLanding();
      await publishRun(world, found, ledger, engine.graph, proved);
      await wings.store?.publish();
    });
    // Merges the small files of tables that have many. Does nothing if there are few.
    const targetBytes = pipeline.lake.targetFileSize;
    if (!deadline.hasPassed()) {
      await step('compact', async () => {
        for (const { tidy } of world.upkeep) await tidy(engine.graph.db, found.lake, world.io, { stop, targetBytes });
      });
    }
    return { published: true, resumed, row: proved.row, checks: proved.checks };
  };
  try {
    return await remember(opened, () => lock.explainLoss(makeSteps));
  } finally {
    await opened.close();
  }
}
