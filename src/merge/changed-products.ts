import type { Database } from '../duckdb/connection.js';
import type { TableState } from '../tables/table.js';
import { tableRelation, toRelationFile } from '../tables/table-relation.js';
import type { Merge } from './merge.js';

/**
 * Table `changed_products`: the products that merged rows are offers of, or were before the run. Needs table
 * `merged_items`. Returns how many there are.
 */
export async function createChangedProducts(
  db: Database,
  { select, replaced }: Pick<Merge, 'select' | 'replaced'>,
  { hasOlderFiles }: Pick<TableState, 'hasOlderFiles'>,
): Promise<bigint> {
  if (select === undefined) return 0n;
  const files = replaced.map((file) => toRelationFile(file, file.absolutePath));
  const before = `FROM ${tableRelation('items', files, { hasOlderFiles })} SEMI JOIN merged_items USING (item_id)`;
  await db.define(
    'table',
    'changed_products',
    `SELECT product_id FROM merged_items WHERE product_id IS NOT NULL
    UNION SELECT product_id ${before} WHERE product_id IS NOT NULL`,
  );
  const row = await db.row('SELECT count(*) AS n FROM changed_products');
  return row?.n as bigint;
}
