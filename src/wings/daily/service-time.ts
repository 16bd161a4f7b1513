import { findNewestTime } from '../../analyze/analysis.js';
import type { Moment } from '../../run/open/wings.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';

export const DAY_MS = 24 * 3600 * 1000;

/** Clock readings from which the service's time is chosen. */
export interface TimeEvidence {
  /** The time in the `Date` headers of the service's responses; undefined if none was valid. */
  date: Date | undefined;
  /** The newest time in any row from the service. */
  seen: Date | undefined;
  /** The time of this machine's clock. */
  local: Date;
}

/**
 * Chooses the time by which days close. Normally this is the time in the `Date` headers. A proxy may write those, so if
 * the newest row is more than a day older, the row's time is used. Without headers, it is the time of the newest row,
 * but at most this machine's time; without rows, this machine's time. If clocks contradict each other, the earlier time
 * is used, because a day that closes late is complete.
 */
export function chooseServiceTime({ date, seen, local }: TimeEvidence): Date {
  if (date === undefined) return seen !== undefined && seen < local ? seen : local;
  return seen !== undefined && date.getTime() - seen.getTime() > DAY_MS ? seen : date;
}

/** Fixes the service's time for the run. */
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
