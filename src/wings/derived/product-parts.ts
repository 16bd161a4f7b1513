import { MANY_FILES } from '../../lake/plan-compaction.js';
import type { RowsInParts } from '../../run/apply/rows-in-parts.js';
import type { Relation } from '../../sql/relation.js';
import { code, type Sql, selectNamedColumns, sql } from '../../sql/sql.js';
import { loadTableSchema } from '../../tables/schemas.js';
import type { TableName } from '../../tables/table.js';

/** Up to this many items are grouped by product at once, because DuckDB can't spill everything that grouping needs. */
const WHOLE_ITEMS = 1_100_000n;
/** Beyond WHOLE_ITEMS, this many items are grouped at a time. */
const PART_ITEMS = 600_000n;

/** Returns the number of parts for a number of items; one if the items fit in memory. */
export function countParts(items: bigint, { wholeItems = WHOLE_ITEMS, partItems = PART_ITEMS } = {}): number {
  const divide = (size: bigint) => Number((items + size - 1n) / size);
  if (items <= wholeItems) return 1;
  // The number is limited, because each part leaves a file in each table, and the run would join many small files
  // again.
  return Math.max(divide(wholeItems), Math.min(divide(partItems), MANY_FILES));
}

export type PartTables = Partial<Record<TableName, Sql>>;

/**
 * Divides the tables into parts. Tables whose rows don't belong to a single product stay whole.
 * @param queries the queries over the parts; only the columns that they name are kept
 */
export async function divideTables(
  parts: RowsInParts,
  tables: Partial<Record<TableName, Relation>>,
  queries: readonly string[],
): Promise<PartTables[]> {
  const all = Object.entries(tables) as [TableName, Relation][];
  const columns = new Map(
    all.flatMap(([name, rows]) => (isByProduct(name) ? [[rows, code(selectNamedColumns(name, queries))]] : [])),
  );
  const reads = await parts.read([...columns.keys()], (rows) => columns.get(rows) ?? sql`*`);
  return reads.map((read) => Object.fromEntries(all.map(([name, rows]) => [name, sql`FROM ${read(rows)}`])));
}

/** True for tables in which the rows of a product depend only on that product. */
export function isByProduct(table: TableName): boolean {
  return loadTableSchema(table).columns.some(({ name }) => name === 'product_id');
}
