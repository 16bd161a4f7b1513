import type { Pipeline } from '../../config/pipeline.js';
import type { Io } from '../../io/io.js';
import { errorCodeOf } from '../../lake/faults.js';
import type { RunReport } from '../../run/sync.js';
import { exitCodeOf } from '../exit-codes.js';

export type WatchedPipeline = Pick<Pipeline, 'file' | 'name' | 'source' | 'lake' | 'budget'>;

export interface WatchedRun {
  /** The pipeline that was run. Undefined if the pipeline file couldn't be read. */
  pipeline: WatchedPipeline | undefined;
  /** The duration of each step in seconds. Steps that the run didn't reach are missing. */
  steps: ReadonlyMap<string, number>;
  startedAt: Date;
  endedAt: Date;
  exitCode: number;
  report: RunReport | undefined;
  error: unknown;
}

export interface RunObserver {
  begin?(pipeline: WatchedPipeline, at: Date): Promise<void>;
  end(run: WatchedRun): Promise<void>;
}

interface RunWatch {
  begin(pipeline: WatchedPipeline): Promise<void>;
  onStep(step: string, seconds: number): void;
}

/**
 * Runs `work`, and then tells the observers how the run ended, even if it failed. If another run has locked the lake,
 * the observers aren't told.
 * @throws the error of `work` or, if `work` succeeded, the error of an observer
 */
export async function watchRun(
  observers: readonly RunObserver[],
  io: Io,
  signal: AbortSignal,
  work: (watch: RunWatch) => Promise<RunReport>,
): Promise<RunReport> {
  const startedAt = io.now();
  const steps = new Map<string, number>();
  let pipeline: WatchedPipeline | undefined;
  const tell = async (exitCode: number, report: RunReport | undefined, error?: unknown) => {
    const run = { pipeline, steps, startedAt, endedAt: io.now(), exitCode, report, error };
    for (const observer of observers) await observer.end(run);
  };
  const watch: RunWatch = {
    begin: async (known) => {
      pipeline = known;
      for (const observer of observers) await observer.begin?.(known, startedAt);
    },
    onStep: (step, seconds) => void steps.set(step, (steps.get(step) ?? 0) + seconds),
  };
  const report = await work(watch).catch(async (thrown: unknown) => {
    const error = signal.aborted ? signal.reason : thrown;
    // An error of an observer is ignored here, because the error of the run takes precedence.
    if (errorCodeOf(error) !== 'lake_locked') await tell(exitCodeOf(error), undefined, error).catch(() => {});
    throw thrown;
  });
  await tell(0, report);
  return report;
}
