import { MANY_FILES } from '../../lake/plan-compaction.js';
import type { Relation } from '../../sql/relation.js';
import { code, type Sql, selectNamedColumns, sql } from '../../sql/sql.js';
import { loadTableSchema } from '../../tables/schemas.js';
import type { TableName } from '../../tables/table.js';
import type { RowsInParts } from '../apply/rows-in-parts.js';

/** So many items are grouped by product at once: what groups hold can't all be spilled. */
const WHOLE_ITEMS = 1_100_000n;
/** If there are more, so many at a time. */
const PART_ITEMS = 600_000n;

/** Counts the parts of products that so many items make. Few are one. */
export function countParts(items: bigint, { wholeItems = WHOLE_ITEMS, partItems = PART_ITEMS } = {}): number {
  const divide = (size: bigint) => Number((items + size - 1n) / size);
  if (items <= wholeItems) return 1;
  // A part leaves a file in each table: of more small ones, the run would join them again.
  return Math.max(divide(wholeItems), Math.min(divide(partItems), MANY_FILES));
}

/** Tables by name, as the rows of a part of the products. */
export type PartTables = Partial<Record<TableName, Sql>>;

/**
 * The tables part by part. Those whose rows are not a product's own come whole.
 * @param queries over the parts: only the columns that they name are kept
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

/** True for tables whose rows of a product are its own. */
export function isByProduct(table: TableName): boolean {
  return loadTableSchema(table).columns.some(({ name }) => name === 'product_id');
}
