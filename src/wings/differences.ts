import type { Io } from '../io/io.js';
import type { RelationGraph } from '../sql/graph.js';
import type { Sql } from '../sql/sql.js';

/** The differences between the service and the lake. */
export interface FoundDifferences {
  compared: bigint;
  different: bigint;
  /** A JSON array of at most 100 differences. */
  differences: string;
}

/**
 * Runs a query that compares the lake with the service.
 * @param select a query that returns one row with the columns `compared`, `different` and `differences`
 */
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
