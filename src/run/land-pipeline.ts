import type { Pipeline } from '../config/pipeline.js';
import type { Io } from '../io/io.js';
import { sumLanded } from '../journal/run-state.js';
import { isIdle, landRun, landRunDatasets } from './land/land-run.js';
import { NO_DEADLINE } from './open/deadline.js';
import { dropIdleRun, type OpenedRun, openRun } from './open/open-run.js';
import { openPlan } from './plan/open-plan.js';
import type { SyncOptions } from './sync.js';
import { timeTry } from './time-try.js';

export interface LandReport {
  /** False if the service had no new data. In this case, the run is removed. */
  landed: boolean;
  /** True if the run continued an interrupted one. */
  resumed: boolean;
  runId: string;
  runNumber: bigint;
  folder: string;
  /** The number of rows that all attempts of the run have landed. */
  rows: bigint;
  bytes: number;
  calls: number;
}

/**
 * Runs only the first steps of a run, up to landing. Changes no table, and doesn't read individual items in full. The
 * next run continues this run from its journal, and doesn't request landed data again.
 * @throws PricelakeError the same errors as `syncPipeline`
 */
export async function landPipeline(
  pipeline: Pipeline,
  io: Io,
  signal?: AbortSignal,
  {
    deadline = NO_DEADLINE,
    connect = deadline.connect,
    caps = {},
    wings,
  }: Pick<SyncOptions, 'deadline' | 'connect' | 'caps' | 'wings'> = {},
): Promise<LandReport> {
  const { step, remember } = timeTry(io);
  const opened = await step('open', () => openRun(pipeline, deadline.limitIo(io), { signal, connect, wings }));
  const { world, found, ledger, engine } = opened;
  const land = async (): Promise<LandReport> => {
    engine.typing.leaveItems();
    const planned = await step('plan', () => openPlan(world, found, ledger, engine.graph, caps));
    const landed = await step('land', () => landRun(world, found, ledger, engine, planned));
    const isNew = !(await isIdle(found, ledger.landing, landed));
    if (isNew) {
      await landRunDatasets(world, ledger.landing, landed.account);
      await wings?.store?.saveLanding();
    } else await dropIdleRun(world, found.lake, ledger);
    return describe(opened, isNew);
  };
  try {
    return await remember(opened, land);
  } finally {
    await opened.close();
  }
}

function describe({ ledger: { landing }, resumed }: OpenedRun, landed: boolean): LandReport {
  const { runId, runNumber, folder, journal } = landing;
  const { state } = journal;
  return { landed, resumed, runId, runNumber, folder, ...sumLanded(state), calls: state.calls.made };
}
