import type { Database } from '../duckdb/connection.js';

/**
 * Table `changed_products`: the products that merged rows are offers of, or were before the run. Needs tables
 * `merged_items` and `items_before`. Returns how many there are.
 */
export async function createChangedProducts(db: Database): Promise<bigint> {
  await db.define(
    'table',
    'changed_products',
    `SELECT product_id FROM merged_items WHERE product_id IS NOT NULL
    UNION SELECT product_id FROM items_before WHERE product_id IS NOT NULL`,
  );
  const row = await db.row('SELECT count(*) AS n FROM changed_products');
  return row?.n as bigint;
}
