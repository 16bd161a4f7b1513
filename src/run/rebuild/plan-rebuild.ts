import { PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import type { KeptRuns } from '../../journal/kept-runs.js';
import type { Lake } from '../../tables/layout.js';
import type { OldTables } from './old-tables.js';

/** The columns of the runs table that a rebuild needs. */
export interface LedgerRun {
  runNumber: bigint;
  runId: string;
  /** True if the run has added rows to the tables. */
  left: boolean;
}

export interface RebuildPlan {
  /** Runs to replay, in order. The first run is a complete snapshot. */
  runs: KeptRuns['runs'];
  /** True if `runs` starts with the lake's first run. In this case, no rows of the old tables are needed. */
  isWhole: boolean;
}

/** A rebuild in progress: the existing tables, and the lake that will replace them. */
export interface Rebuild {
  old: OldTables;
  rebuilt: Lake;
  plan: RebuildPlan;
  io: Io;
}

/**
 * Chooses the saved runs to replay: all runs if none is missing, otherwise those since the last complete snapshot.
 * @param landed runs with saved raw data, in order
 * @param published rows of the runs table; undefined if it can't be read
 * @param cursor the lake's feed cursor; undefined if it has none
 * @throws PricelakeError `landing_gone` that describes the missing raw data
 */
export function planRebuild(
  landed: KeptRuns['runs'],
  published: readonly LedgerRun[] | undefined,
  cursor: bigint | undefined | 'unknown',
): RebuildPlan {
  const snapshots = landed.filter(({ state }) => state.decision?.mode === 'snapshot');
  const last = snapshots.at(-1);
  if (last === undefined) throw refuse('no run with a complete snapshot is saved');
  const first = snapshots.find((run) => run.runNumber === 1n);
  const starts = first === undefined ? [last] : [first, last];
  const plans = starts.map((start) => {
    const runs = landed.filter((run) => run.runNumber >= start.runNumber);
    return { runs, isWhole: start === first, missing: findMissing(runs, published, cursor) };
  });
  const plan = plans.find(({ missing }) => missing === undefined) ?? plans.at(-1);
  if (plan?.missing !== undefined) throw refuse(plan.missing);
  return { runs: plan?.runs ?? [], isWhole: plan?.isWhole ?? false };
}

/** Describes a gap between the saved runs and the published lake. Returns undefined if there is no gap. */
function findMissing(
  runs: KeptRuns['runs'],
  published: readonly LedgerRun[] | undefined,
  cursor: bigint | undefined | 'unknown',
): string | undefined {
  const kept = new Set(runs.map(({ runId }) => runId));
  const start = runs[0]?.runNumber ?? 0n;
  const gone = published?.filter((run) => run.left && run.runNumber >= start && !kept.has(run.runId)) ?? [];
  if (gone.length > 0) {
    return `the data of ${gone.length === 1 ? 'run' : 'runs'} ${gone.map(({ runId }) => runId).join(', ')} is gone`;
  }
  let at: bigint | undefined;
  for (const { runId, state } of runs) {
    const from = state.begin.cursorFrom ?? undefined;
    if (at !== undefined && from !== at) return `changes from cursor ${at} to ${from}, before run ${runId}, are gone`;
    at = state.feed.done?.cursor ?? at;
  }
  if (cursor === 'unknown' || cursor === undefined || (at !== undefined && at >= cursor)) return undefined;
  return `changes from cursor ${at} to ${cursor} are gone`;
}

function refuse(missing: string): PricelakeError {
  return new PricelakeError('landing_gone', `the saved raw data isn't sufficient to rebuild the tables: ${missing}`, {
    hint: 'landing.keep sets how long raw data is kept. `pricelake sync --reconcile` makes a complete copy and repairs differences. If damage prevents this too, restore the lake from a backup, or move its folder away. `pricelake sync` then makes a new copy, without the older history.',
  });
}
