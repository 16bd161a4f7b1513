import { type LandedRun, peekUnfinishedRun } from '../../journal/landings.js';
import { sumLanded } from '../../journal/run-state.js';
import type { Lake } from '../../lake/lake.js';
import type { LockState } from '../../lake/lock.js';
import { readTable } from '../../lake/read.js';

/** A run that has not ended, and what it has. */
export interface OpenRun {
  runId: string;
  runNumber: bigint;
  begunAt: string;
  /** `running` under a living lock, `held` by checks, else `interrupted`. */
  state: 'running' | 'held' | 'interrupted';
  /** Gate checks that hold the batch. */
  checks: string[];
  tries: number;
  calls: number;
  /** Rows on disk, by what they are. */
  landed: { exportRows: bigint; changes: bigint; items: bigint };
}

/** The activity of a lake. The service is not asked. */
export interface LakeActivity {
  lock: LockState | undefined;
  open: OpenRun | undefined;
}

/** Looks at the landing, under the lock as it is; changes nothing, and may look while a run is at work. */
export async function inspectActivity(lake: Lake, lock: LockState | undefined): Promise<LakeActivity> {
  const { applied } = await readTable(lake, 'runs');
  const open = await peekUnfinishedRun(lake.root, applied.run ?? 0n);
  return { lock, open: open && describeOpen(open, lock?.alive === true) };
}

function describeOpen({ runId, runNumber, state }: LandedRun, isRunning: boolean): OpenRun {
  return {
    runId,
    runNumber,
    begunAt: state.begin.at,
    state: isRunning ? 'running' : state.stage === 'held' ? 'held' : 'interrupted',
    checks: state.stage === 'held' ? [...state.checks] : [],
    tries: state.calls.tries,
    calls: state.calls.made,
    landed: {
      exportRows: state.exports.onDisk,
      changes: sumLanded(state, ['feed', 'events', 'histories']).rows,
      items: sumLanded(state, ['polled', 'listed', 'hydrated']).rows,
    },
  };
}
