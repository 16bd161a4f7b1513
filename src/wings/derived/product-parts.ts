import { MANY_FILES } from '../../lake/plan-compaction.js';
import type { RowsInParts } from '../../run/apply/rows-in-parts.js';
import type { Relation } from '../../sql/relation.js';
import { code, type Sql, selectNamedColumns, sql } from '../../sql/sql.js';
import { loadTableSchema } from '../../tables/schemas.js';
import type { TableName } from '../../tables/table.js';

/** The maximum number of items that one query groups by product. DuckDB can't move a whole grouping to disk. */
const WHOLE_ITEMS = 1_100_000n;
/** The number of items in each query if there are more than WHOLE_ITEMS. */
const PART_ITEMS = 600_000n;

/** Returns the number of parts into which the items are divided. Returns 1 if all items fit in memory. */
export function countParts(items: bigint, { wholeItems = WHOLE_ITEMS, partItems = PART_ITEMS } = {}): number {
  const divide = (size: bigint) => Number((items + size - 1n) / size);
  if (items <= wholeItems) return 1;
  // Each part adds a file to each table. There may not be many parts, because many small files must be compacted.
  return Math.max(divide(wholeItems), Math.min(divide(partItems), MANY_FILES));
}

export type PartTables = Partial<Record<TableName, Sql>>;

/**
 * Divides tables into parts by product. A table whose rows don't belong to products isn't divided.
 * @param queries the queries that will read the parts; columns that no query mentions are omitted
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

/** Returns true if each row of the table belongs to one product. */
export function isByProduct(table: TableName): boolean {
  return loadTableSchema(table).columns.some(({ name }) => name === 'product_id');
}
