import type { Pipeline } from '../config/pipeline.js';
import { PricelakeError } from '../io/errors.js';
import type { Io, RunStep } from '../io/io.js';
import type { RunTry } from '../journal/tries.js';
import { errorCodeOf, explainMemory } from '../lake/faults.js';
import type { OpenedRun } from './open/open-run.js';

/** Measures the steps of one attempt of a run, and records their durations in the lake's saved state. */
export function timeTry(io: Io, onStep?: (step: RunStep, seconds: number) => void) {
  const begunAt = io.now();
  const steps = new Map<RunStep, number>();
  const note = ({ ledger: { memory, landing }, found }: OpenedRun, error?: unknown) => {
    const fault =
      error === undefined ? {} : { fault: describeFault(error, [...steps.keys()].at(-1) ?? 'open', found.pipeline) };
    const [begun, ended] = [begunAt, io.now()].map((at) => at.toISOString()) as [string, string];
    const made = { runNumber: landing.runNumber, begunAt: begun, endedAt: ended, steps: Object.fromEntries(steps) };
    return memory.append({ type: 'try', ...made, ...fault });
  };
  return {
    step: async <T>(step: RunStep, work: () => Promise<T>): Promise<T> => {
      const start = io.now().getTime();
      steps.set(step, 0);
      try {
        return await explainMemory(`step ${step}`, work);
      } finally {
        const seconds = Math.max(0, io.now().getTime() - start) / 1000;
        steps.set(step, seconds);
        onStep?.(step, seconds);
      }
    },
    /** Runs the steps that follow the opening of the lake, and records whether they succeeded. */
    remember: async <T>(run: OpenedRun, work: () => Promise<T>): Promise<T> => {
      const done = await work().catch(async (error: unknown) => {
        // Ignores an error of the recording itself, because the run's own error is more important.
        const { stop, lock } = run;
        if (!lock.lost.aborted) await note(run, stop.aborted ? stop.reason : error).catch(() => {});
        throw error;
      });
      await note(run);
      return done;
    },
  };
}

const LONGEST = 1000;

/** Describes an error. Redacts the key, because the message may quote text in which the service repeated the key. */
function describeFault(
  error: unknown,
  step: RunStep,
  { source: { apiKey } }: Pick<Pipeline, 'source'>,
): NonNullable<RunTry['fault']> {
  const clean = (text: string) => (apiKey === '' ? text : text.replaceAll(apiKey, '***')).slice(0, LONGEST);
  const hint = error instanceof PricelakeError ? error.facts.hint : undefined;
  return {
    step,
    code: errorCodeOf(error),
    message: clean(error instanceof Error ? error.message : String(error)),
    ...(hint === undefined ? {} : { hint: clean(hint) }),
  };
}
