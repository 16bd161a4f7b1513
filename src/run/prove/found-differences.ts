import type { RelationGraph } from '../../sql/graph.js';
import type { Sql } from '../../sql/sql.js';

/** Differences between the service's own counts or groups and the lake's. */
export interface FoundDifferences {
  compared: bigint;
  different: bigint;
  /** JSON text of an array, at most 100. */
  differences: string;
}

export const NOTHING_COMPARED: FoundDifferences = { compared: 0n, different: 0n, differences: '[]' };

/** @param select one row of `compared`, `different` and `differences` */
export async function readDifferences(graph: RelationGraph, select: Sql): Promise<FoundDifferences> {
  const row = await graph.row(select);
  return {
    compared: row?.compared as bigint,
    different: row?.different as bigint,
    differences: String(row?.differences),
  };
}
