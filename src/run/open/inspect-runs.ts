import { peekUnfinishedRun } from '../../journal/landings.js';
import { readMemory } from '../../journal/memory.js';
import { type AnyRun, sumLanded } from '../../journal/run-state.js';
import type { RunStep } from '../../journal/tries.js';
import type { Lake } from '../../lake/lake.js';
import { readTable } from '../../lake/read.js';

/** The first step whose work the journal does not show as done. */
const NEXT_STEP: Record<AnyRun['stage'], RunStep> = {
  ...{ begun: 'land', asked: 'land', landed: 'apply', complete: 'apply' },
  ...{ settled: 'derive', held: 'prove', ended: 'publish' },
};

/**
 * A run that has not ended, and what it has; undefined if there is none. Changes nothing, asks nothing, and may look while
 * a run is at work.
 */
export async function inspectOpenRun(lake: Lake, isRunning: boolean) {
  const { applied } = await readTable(lake, 'runs');
  const open = await peekUnfinishedRun(lake.root, applied.run ?? 0n);
  if (open === undefined) return undefined;
  const { runId, runNumber, state } = open;
  const isHeld = state.stage === 'held';
  const last = (await readMemory(lake)).tries.findLast((made) => made.runNumber === runNumber);
  // `sync --land-only` ends without a fault before the run does.
  const hasLanded = NEXT_STEP[state.stage] === 'apply' && last !== undefined && last.fault === undefined;
  const rest = isHeld ? ('held' as const) : hasLanded ? ('landed' as const) : ('interrupted' as const);
  return {
    runId,
    runNumber,
    begunAt: state.begin.at,
    state: isRunning ? ('running' as const) : rest,
    /** The step with which the next try continues; a running one may be further. */
    step: NEXT_STEP[state.stage],
    /** Gate checks that hold the batch. */
    checks: isHeld ? [...state.checks] : [],
    tries: state.calls.tries,
    calls: state.calls.made,
    /** Rows on disk, by what they are. */
    landed: {
      exportRows: state.exports.onDisk,
      changes: sumLanded(state, ['feed', 'sources']).rows,
      items: sumLanded(state, ['polled', 'listed', 'hydrated']).rows,
    },
  };
}
