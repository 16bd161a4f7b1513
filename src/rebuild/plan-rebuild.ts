import { PricelakeError } from '../errors/errors.js';
import type { LandedRun } from '../landing/landed-runs.js';

/** A row of table `runs`. */
export interface RunFacts {
  runNumber: bigint;
  runId: string;
  /** True if the tables hold rows of the run. */
  left: boolean;
}

export interface RebuildPlan {
  /** Runs to replay, in order; the first is a complete snapshot. */
  runs: LandedRun[];
  /** True if they begin with the lake's first run, so that no row of the tables is kept. */
  isWhole: boolean;
}

/**
 * Chooses the runs that rebuild the tables: all runs if they are kept, else those from the last complete snapshot on.
 * @param landed runs with kept raw bytes, in order
 * @param published rows of table `runs`; undefined if it can't be read
 * @param cursor the lake's feed cursor; undefined if it has none
 * @throws PricelakeError `landing_gone` that names missing bytes
 */
export function planRebuild(
  landed: readonly LandedRun[],
  published: readonly RunFacts[] | undefined,
  cursor: bigint | undefined | 'unknown',
): RebuildPlan {
  const ended = landed.filter(({ journal }) => journal.last('end') !== undefined);
  const snapshots = ended.filter(({ journal }) => journal.last('decision')?.mode === 'snapshot');
  const last = snapshots.at(-1);
  if (last === undefined) throw refuse('no run with a complete snapshot is kept');
  const first = snapshots.find((run) => run.runNumber === 1n);
  const starts = first === undefined ? [last] : [first, last];
  const plans = starts.map((start) => {
    const runs = ended.filter((run) => run.runNumber >= start.runNumber);
    return { runs, isWhole: start === first, missing: findMissing(runs, published, cursor) };
  });
  const plan = plans.find(({ missing }) => missing === undefined) ?? plans.at(-1);
  if (plan?.missing !== undefined) throw refuse(plan.missing);
  return { runs: plan?.runs ?? [], isWhole: plan?.isWhole ?? false };
}

/** Describes a gap between these runs and the published lake; undefined if there is none. */
function findMissing(
  runs: readonly LandedRun[],
  published: readonly RunFacts[] | undefined,
  cursor: bigint | undefined | 'unknown',
): string | undefined {
  const kept = new Set(runs.map(({ runId }) => runId));
  const start = runs[0]?.runNumber ?? 0n;
  const gone = published?.filter((run) => run.left && run.runNumber >= start && !kept.has(run.runId)) ?? [];
  if (gone.length > 0) {
    return `those of ${gone.length === 1 ? 'run' : 'runs'} ${gone.map(({ runId }) => runId).join(', ')} are gone`;
  }
  let at: bigint | undefined;
  for (const { runId, journal } of runs) {
    const from = journal.last('begin')?.cursorFrom ?? undefined;
    if (at !== undefined && from !== at) return `changes from cursor ${at} to ${from}, before run ${runId}, are gone`;
    at = journal.last('feed.done')?.cursor ?? at;
  }
  if (cursor === 'unknown' || cursor === undefined || (at !== undefined && at >= cursor)) return undefined;
  return `changes from cursor ${at} to ${cursor} are gone`;
}

function refuse(missing: string): PricelakeError {
  return new PricelakeError('landing_gone', `the kept raw bytes are not enough to rebuild the tables: ${missing}`, {
    hint: 'landing.keep says how long they are kept. `pricelake sync --reconcile` takes a complete copy and repairs what differs.',
  });
}
