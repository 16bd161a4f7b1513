import { findNewestTime } from '../../analyze/analysis.js';
import type { Moment } from '../../run/open/wings.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';

export const DAY_MS = 24 * 3600 * 1000;

/** Evidence of the service's time. */
export interface TimeEvidence {
  /** By the `Date` headers of its answers; undefined if none was valid. */
  date: Date | undefined;
  /** The newest time that the service wrote into a row. */
  seen: Date | undefined;
  /** By this machine's clock. */
  local: Date;
}

/**
 * Chooses the time by which days close. The `Date` headers show it, but a proxy may write them, so if the rows are more
 * than a day behind, the rows decide. Without headers, it is the time that the rows show, at most this machine's time;
 * without rows, this machine's time. If clocks contradict each other, the earlier one is taken, because a day that
 * closes late is complete.
 */
export function chooseServiceTime({ date, seen, local }: TimeEvidence): Date {
  if (date === undefined) return seen !== undefined && seen < local ? seen : local;
  return seen !== undefined && date.getTime() - seen.getTime() > DAY_MS ? seen : date;
}

/** The service's time at the run's moment. */
export async function settleServiceTime(
  graph: RelationGraph,
  tables: { history: Relation; items: Relation },
  { at, serviceAt }: Moment,
): Promise<Date> {
  const local = new Date(at);
  return chooseServiceTime({
    date: serviceAt === null ? undefined : new Date(serviceAt),
    seen: await findNewestTime(graph, tables),
    local,
  });
}
