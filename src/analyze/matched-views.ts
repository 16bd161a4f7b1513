import type { Database } from '../sql/connection.js';
import { bindQuery, readAnalysis } from '../sql/model.js';
import { itself } from '../sql/sql.js';
import type { DerivedTableName, TableName } from '../tables/table.js';
import { listDerived, selectDerived } from './derived-tables.js';
import { toProductId } from './known-values.js';

const REMADE = ['products', 'product_prices', 'offers', 'price_spread'] as const satisfies DerivedTableName[];

/**
 * Replaces the views of items, products, product prices, offers and spreads. In the new views, the `product_id` of a
 * matched product is its `match_id` in the `matches` table, so the offers of matched products are compared with each
 * other. The rows of other products don't change.
 */
export async function keyByMatch(db: Database): Promise<void> {
  for (const table of ['items', ...REMADE]) await db.run(`ALTER VIEW ${table} RENAME TO ${table}_by_product`);
  const matches = itself('matches');
  const items = bindQuery(readAnalysis('matched_items'), { items: itself('items_by_product'), matches });
  await db.run(`CREATE VIEW items AS ${items.text}`);
  await db.run(`CREATE TABLE joined_products AS SELECT product_id FROM matches UNION SELECT match_id FROM matches`);
  await db.run('CREATE TABLE matched_items AS FROM items SEMI JOIN joined_products USING (product_id)');
  for (const derived of listDerived()) {
    const { table, reads } = derived;
    if (!REMADE.some((one) => one === table)) continue;
    const sources = Object.fromEntries(reads.map((read) => [read, itself(nameMatched(read))]));
    await db.run(`CREATE TABLE matched_${table} AS ${selectDerived(derived, sources, '').text}`);
    const unmatched = `FROM ${table}_by_product ANTI JOIN joined_products USING (product_id)`;
    await db.run(`CREATE VIEW ${table} AS ${unmatched} UNION ALL BY NAME FROM matched_${table}`);
  }
}

const nameMatched = (table: TableName) =>
  table === 'items' || REMADE.some((one) => one === table) ? `matched_${table}` : table;

export async function findMatch(db: Database, product: string): Promise<string> {
  const row = await db.row('SELECT match_id FROM matches WHERE product_id = $1', [toProductId(product)]);
  return row === undefined ? product : String(row.match_id);
}
