import { PricelakeError } from '../errors/errors.js';
import type { KeptRuns } from '../journal/landings.js';

/** A row of table `runs`, as far as a rebuild needs it. */
export interface RunFacts {
  runNumber: bigint;
  runId: string;
  /** True when rows of it are in the tables. */
  left: boolean;
}

/** What a rebuild replays. */
export interface RebuildPlan {
  /** In order; the first is a complete snapshot. */
  runs: KeptRuns['runs'];
  /** True when the lake's very first run is among them: nothing of the tables stays as it is. */
  isWhole: boolean;
}

/**
 * Chooses the kept runs that rebuild the tables: all from the lake's first one where they are all kept, else those
 * from the last complete snapshot on.
 * @param landed runs whose raw bytes are kept, in order
 * @param published rows of table `runs`; undefined when it can't be read
 * @param cursor feed cursor of the lake; undefined if it has none, `unknown` if nothing says
 * @throws PricelakeError `landing_gone` naming what is missing.
 */
export function planRebuild(
  landed: KeptRuns['runs'],
  published: readonly RunFacts[] | undefined,
  cursor: bigint | undefined | 'unknown',
): RebuildPlan {
  const snapshots = landed.filter(({ state }) => state.decision?.mode === 'snapshot');
  const last = snapshots.at(-1);
  if (last === undefined) throw refuse('no run with a complete snapshot is kept');
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

/** What these runs do not hold of what came since the first of them, in words; undefined when nothing. */
function findMissing(
  runs: KeptRuns['runs'],
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
  for (const { runId, state } of runs) {
    const from = state.begin.cursorFrom ?? undefined;
    if (at !== undefined && from !== at) return `changes from cursor ${at} to ${from}, before run ${runId}, are gone`;
    at = state.feed.done?.cursor ?? at;
  }
  if (cursor === 'unknown' || cursor === undefined || (at !== undefined && at >= cursor)) return undefined;
  return `changes from cursor ${at} to ${cursor} are gone`;
}

function refuse(missing: string): PricelakeError {
  return new PricelakeError('landing_gone', `the kept raw bytes are not enough to rebuild the tables: ${missing}`, {
    hint: 'landing.keep says how long they are kept. `pricelake sync --reconcile` takes a complete copy and repairs what differs.',
  });
}
