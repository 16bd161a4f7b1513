import type { Io } from '../io/io.js';
import type { RelationGraph } from '../sql/graph.js';
import type { Sql } from '../sql/sql.js';

/** Differences between the service's own counts or groups and the lake's. */
export interface FoundDifferences {
  compared: bigint;
  different: bigint;
  /** JSON text of an array, at most 100. */
  differences: string;
}

/** @param select one row of `compared`, `different` and `differences` */
export async function readDifferences(
  io: Io,
  graph: RelationGraph,
  what: 'facets' | 'products',
  select: Sql,
): Promise<FoundDifferences> {
  const row = await graph.row(select);
  const [compared, different] = [row?.compared as bigint, row?.different as bigint];
  io.log('debug', `${what}.compared`, { compared, different });
  return { compared, different, differences: String(row?.differences) };
}
