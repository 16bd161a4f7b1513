import type { Pipeline } from '../config/pipeline-file.js';
import type { Io } from '../io/io.js';
import { sumLanded } from '../journal/run-state.js';
import { explainSystemFault } from '../lake/faults.js';
import { withRemote } from '../remote/remote.js';
import { isIdle, landRun, landRunDatasets } from './land/land-run.js';
import { NO_DEADLINE } from './open/deadline.js';
import { closeRun, dropIdleRun, openRun, type Run } from './open/open-run.js';
import type { SyncOptions } from './sync.js';
import { timeTry } from './time-try.js';

/** The news that a run has landed. */
export interface LandReport {
  /** False where nothing is new: the run is forgotten. */
  landed: boolean;
  /** True when the run continued an interrupted one. */
  resumed: boolean;
  runId: string;
  runNumber: bigint;
  /** The folder of the landing: the journal, and the files that it names. */
  folder: string;
  /** Counted over all tries of the run. */
  rows: bigint;
  bytes: number;
  calls: number;
}

/**
 * The first step of a run alone: lands what is new, and leaves the tables as they are. Nothing is typed. The next run
 * continues from the journal as after a crash, and asks for nothing that has landed. Items about which changes say too little are
 * read whole by that run.
 * @throws PricelakeError as `syncPipeline` does until bytes have landed
 */
export function landPipeline(
  pipeline: Pipeline,
  io: Io,
  signal?: AbortSignal,
  {
    deadline = NO_DEADLINE,
    connect = deadline.connect,
    caps = {},
  }: Pick<SyncOptions, 'deadline' | 'connect' | 'caps'> = {},
): Promise<LandReport> {
  return explainSystemFault(pipeline.lake.path, () =>
    withRemote(pipeline.lake, io, signal, async (remote, stop) => {
      const { step, remember } = timeTry(io);
      const run = await step('open', () =>
        openRun(pipeline, deadline.limitIo(io), {
          signal: stop,
          caps,
          connect,
          bring: remote?.bring,
        }),
      );
      const land = async (): Promise<LandReport> => {
        run.typing.leaveItems();
        const landed = await step('land', () => landRun(run));
        if (await isIdle(run, landed)) {
          await dropIdleRun(run);
          return describe(run, false);
        }
        await landRunDatasets(run, landed);
        await remote?.saveLanding();
        return describe(run, true);
      };
      try {
        return await remember(run, land);
      } finally {
        await closeRun(run);
      }
    }),
  );
}

function describe({ landing, resumed }: Run, landed: boolean): LandReport {
  const { runId, runNumber, folder, journal } = landing;
  const { state } = journal;
  return { landed, resumed, runId, runNumber, folder, ...sumLanded(state), calls: state.calls.made };
}
