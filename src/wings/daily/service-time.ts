import { findNewestTime } from '../../analyze/analysis.js';
import type { Moment } from '../../run/open/wings.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';

export const DAY_MS = 24 * 3600 * 1000;

/** The times from which the service's current time is determined. */
export interface TimeEvidence {
  /** The time in a `Date` header from the service; undefined if no response had a valid one. */
  date: Date | undefined;
  /** The newest time in any row from the service. */
  seen: Date | undefined;
  /** The time according to this machine's clock. */
  local: Date;
}

/**
 * Determines the service's current time, which decides when days end. Normally, this is the time in the `Date` headers
 * of responses. A proxy may have set that header, so if the newest row is more than a day older, the time of that row
 * is used. Without a header, the time of the newest row is used, unless this machine's time is earlier. Without rows,
 * this machine's time is used. An earlier time is preferred, because a day that is closed too late is still complete.
 */
export function chooseServiceTime({ date, seen, local }: TimeEvidence): Date {
  if (date === undefined) return seen !== undefined && seen < local ? seen : local;
  return seen !== undefined && date.getTime() - seen.getTime() > DAY_MS ? seen : date;
}

/** Returns the service's current time, based on the responses and the rows of this run. */
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
