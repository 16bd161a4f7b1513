import type { Database } from '../duckdb/connection.js';

/** What a comparison of the service's own counts or groups with the lake found. */
export interface FoundDifferences {
  compared: bigint;
  different: bigint;
  /** JSON text of an array, at most 100. */
  differences: string;
}

export const NOTHING_COMPARED: FoundDifferences = { compared: 0n, different: 0n, differences: '[]' };

/** @param sql one row of `compared`, `different` and `differences` */
export async function readDifferences(db: Database, sql: string): Promise<FoundDifferences> {
  const row = await db.row(sql);
  return {
    compared: row?.compared as bigint,
    different: row?.different as bigint,
    differences: String(row?.differences),
  };
}
