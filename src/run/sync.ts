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

export interface RunReport {
  /** True if the run has published a new version of the lake. False if nothing had changed, so no file was written. */
  published: boolean;
  /** True if the run continued an interrupted one. */
  resumed: boolean;
  row: RunRow;
  checks: CheckResult[];
}

export interface SyncOptions {
  /** True to publish the batch that a failed gate holds, without making calls. */
  publishHeld?: boolean;
  /** When this time has passed, the run stops at the next point where stopping loses no work. */
  deadline?: Deadline;
  caps?: RunCaps;
  /** Creates the client. Defaults to a client for the pipeline's service. */
  connect?: OpenOptions['connect'];
  /** The run's optional modules. Defaults to no modules. */
  wings?: Wings;
  /** Called after each step with its duration in seconds, even if the step has failed. */
  onStep?: (step: RunStep, seconds: number) => void;
}

/**
 * Runs a pipeline once. Opens the lake, plans the run, lands new data, and applies it to the existing rows. Then writes
 * the files of the next version beside the current ones, checks this version, and publishes it. Each step receives the
 * results of earlier steps. A run can resume after any interruption, because its journal records its state.
 * @throws PricelakeError from a step. The caller explains errors of the machine and of damaged files
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
    // Doesn't read website credits if the lake has a remote store, because reading `sites` may download files.
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
