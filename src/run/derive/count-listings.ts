import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { code, sql } from '../../sql/sql.js';
import type { TableName } from '../../tables/table.js';
import { refuseResult } from '../../workers/workers.js';
import type { StagedTable } from './stage.js';

/** Listed items that the rows of a table stand for, and the sum by which its rows count them. */
interface Listings {
  items: string;
  sum: string;
}

const OF_PRODUCTS = 'is_listed AND product_id IS NOT NULL';
const PRICED = `${OF_PRODUCTS} AND price IS NOT NULL AND currency IS NOT NULL`;

const LISTINGS: Partial<Record<TableName, Listings>> = {
  products: { items: OF_PRODUCTS, sum: 'coalesce(sum(offers), 0)' },
  product_prices: { items: PRICED, sum: 'coalesce(sum(offers), 0)' },
  offers: { items: PRICED, sum: 'count(*)' },
};

/** Compares rows that workers have derived with the items that they stand for. @throws PricelakeError where some are lost */
export async function compareListings(graph: RelationGraph, staged: StagedTable, items: Relation): Promise<void> {
  const { table, change } = staged;
  const listings = LISTINGS[table];
  if (listings === undefined || change === undefined) return;
  const { rows } = await staged.rows();
  const row = await graph.row(sql`SELECT (SELECT ${code(listings.sum)} FROM ${rows})::BIGINT AS derived,
    (SELECT count(*) FROM ${items} WHERE ${code(listings.items)}) AS listed`);
  if (row?.derived === row?.listed) return;
  throw refuseResult('slice', `${table} counts ${row?.derived} listings, and items ${row?.listed}`);
}
