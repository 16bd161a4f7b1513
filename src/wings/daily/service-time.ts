import { findNewestTime } from '../../analyze/analysis.js';
import type { Moment } from '../../run/open/wings.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';

export const DAY_MS = 24 * 3600 * 1000;

/** Clock readings from which the service's current time is determined. */
export interface TimeEvidence {
  /** The time in the `Date` header of a response; undefined if no response had a valid header. */
  date: Date | undefined;
  /** The newest time in any row from the service. */
  seen: Date | undefined;
  /** The time of this machine's clock. */
  local: Date;
}

/**
 * Determines the service's current time, which decides when days close. This is normally the time in the `Date`
 * headers. A proxy may set these headers, so if the newest row is more than a day older, its time is used. Without
 * headers, the time of the newest row is used, but at most this machine's time; without rows, this machine's time. If
 * clocks disagree, the earlier time is used, because a day that closes late is still complete.
 */
export function chooseServiceTime({ date, seen, local }: TimeEvidence): Date {
  if (date === undefined) return seen !== undefined && seen < local ? seen : local;
  return seen !== undefined && date.getTime() - seen.getTime() > DAY_MS ? seen : date;
}

/** Returns the service's current time, as the run found it. */
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
