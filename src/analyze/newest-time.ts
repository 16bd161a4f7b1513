import type { RelationGraph } from '../sql/graph.js';
import type { Source } from '../sql/model.js';
import { bindQuery } from '../sql/model.js';

/** The newest instant that the service has written into a row; undefined where there is none. */
export async function findNewestTime(
  graph: RelationGraph,
  { history, items }: { history: Source; items: Source },
): Promise<Date | undefined> {
  const query = `SELECT epoch_ms(greatest(
    (SELECT max(observed_at) FROM history), (SELECT max(last_seen_at) FROM items))) AS newest`;
  const row = await graph.row(bindQuery(query, { history, items }));
  const newest = row?.newest as bigint | null | undefined;
  return newest === null || newest === undefined ? undefined : new Date(Number(newest));
}
