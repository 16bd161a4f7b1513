import type { RunStep } from '../../io/io.js';
import { peekUnfinishedRun } from '../../journal/landings.js';
import { readMemory } from '../../journal/memory.js';
import { type AnyRun, sumLanded } from '../../journal/run-state.js';
import { readTable } from '../../lake/read.js';
import type { Lake } from '../../tables/layout.js';

/** Maps the stage in a run's journal to the step that the run must do next. */
const NEXT_STEP: Record<AnyRun['stage'], RunStep> = {
  ...{ begun: 'land', asked: 'land', landed: 'apply', complete: 'apply' },
  ...{ settled: 'derive', held: 'prove', ended: 'publish' },
};

/** Describes the unfinished run, which may still be running, or returns undefined if there is none. Only reads. */
export async function inspectOpenRun(lake: Lake, isRunning: boolean) {
  const { applied } = await readTable(lake, 'runs');
  const open = await peekUnfinishedRun(lake.root, applied.run ?? 0n);
  if (open === undefined) return undefined;
  const { runId, runNumber, state } = open;
  const isHeld = state.stage === 'held';
  const last = (await readMemory(lake)).tries.findLast((made) => made.runNumber === runNumber);
  // A run that `sync --land-only` left unfinished has no error, because it wasn't interrupted.
  const hasLanded = NEXT_STEP[state.stage] === 'apply' && last !== undefined && last.fault === undefined;
  const rest = isHeld ? ('held' as const) : hasLanded ? ('landed' as const) : ('interrupted' as const);
  return {
    runId,
    runNumber,
    begunAt: state.begin.at,
    state: isRunning ? ('running' as const) : rest,
    /** The step at which the next attempt would continue. An attempt that is running may be further. */
    step: NEXT_STEP[state.stage],
    checks: isHeld ? [...state.checks] : [],
    tries: state.calls.tries,
    calls: state.calls.made,
    landed: {
      exportRows: state.exports.onDisk,
      changes: sumLanded(state, ['feed', 'sources']).rows,
      items: sumLanded(state, ['polled', 'listed', 'hydrated']).rows,
    },
  };
}
