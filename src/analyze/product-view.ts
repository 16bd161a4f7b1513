import type { DuckDBValue } from '@duckdb/node-api';
import type { Database } from '../sql/connection.js';
import { bindQuery, readAnalysis } from '../sql/model.js';
import { itself, sql } from '../sql/sql.js';
import { setVariables } from './analysis.js';
import { toDate } from './spread-selection.js';

/** One day of a product in one currency. Prices are numbers, which are exact enough for a chart. */
export interface ProductDay {
  day: string;
  min: number;
  median: number;
  max: number;
}

/** Reads a product's prices for each day from `first` to `last`, without excluded prices (product_days.sql). */
export async function readProductDays(
  db: Database,
  product: string,
  currency: string,
  { first, last }: { first: string; last: string },
): Promise<ProductDay[]> {
  await setVariables(db, { product, currency, first_day: toDate(first), last_day: toDate(last) });
  // Reads only the items of this product, because a lake may be large.
  const items = sql`${itself('items')} WHERE product_id = ${product}`;
  const prices = bindQuery(readAnalysis('offer_prices'), { items });
  await db.run(`CREATE OR REPLACE TABLE offer_prices AS ${prices.text}`);
  const rows = await db.rows(
    `SELECT day::VARCHAR AS day, "min"::DOUBLE AS "min", median::DOUBLE AS median, "max"::DOUBLE AS "max"
     FROM (${readAnalysis('product_days')})`,
  );
  return rows.map((row) => ({
    day: String(row.day),
    min: toNumber(row.min),
    median: toNumber(row.median),
    max: toNumber(row.max),
  }));
}

const toNumber = (value: DuckDBValue | undefined) => (typeof value === 'number' ? value : Number.NaN);
