import type { RelationGraph } from '../sql/graph.js';
import { quoteIdentifier } from '../sql/quote.js';
import { code, type Sql, sql } from '../sql/sql.js';

/** A partition's values in DuckDB's format, in the order of the partition columns. */
export type PartitionKey = readonly { column: string; text: string | null }[];

/** Lists the partitions that contain the given rows. An unpartitioned table has one partition. */
export async function listPartitions(
  graph: RelationGraph,
  columns: readonly string[],
  rows: Sql,
): Promise<PartitionKey[]> {
  const texts = columns.map((name, at) => `CAST(${quoteIdentifier(name)} AS VARCHAR) AS value_${at}`);
  const found = await graph.rows(
    columns.length === 0
      ? sql`SELECT 1 FROM (${rows}) LIMIT 1`
      : sql`SELECT DISTINCT ${code(texts.join(', '))} FROM (${rows})`,
  );
  return found.map((row) => columns.map((column, at) => ({ column, text: row[`value_${at}`] as string | null })));
}
