import type { Database } from '../duckdb/connection.js';
import { quoteLiteral } from '../duckdb/quote.js';
import { readAnalysis } from './analysis.js';

/** Days, both included: `2026-11-20`, in UTC. */
export interface DayRange {
  first: string;
  last: string;
}

/** Runs of days of offers in a part: what a part's figures hold in memory stays below 200 MB. */
const PART_RUNS = 300_000n;

/**
 * Runs `work` with a SELECT of price_spread_daily (schemas/price_spread_daily.yaml) over a part of the products after
 * the other, in order of product. Reads the views `items`, `history` and `sites`.
 */
export async function eachDailySpread(
  db: Database,
  { first, last }: DayRange,
  work: (select: string) => Promise<void>,
  partRuns = PART_RUNS,
): Promise<void> {
  await db.run('SET VARIABLE first_day = CAST($1 AS DATE)', [first]);
  await db.run('SET VARIABLE last_day = CAST($1 AS DATE)', [last]);
  await db.run(`CREATE OR REPLACE TABLE all_offer_prices AS ${readAnalysis('offer_prices')}`);
  const select = readAnalysis('price_spread_daily');
  for (const predicate of await planParts(db, partRuns)) {
    await db.run(`CREATE OR REPLACE VIEW offer_prices AS FROM all_offer_prices WHERE ${predicate}`);
    await work(select);
  }
  await db.run('DROP VIEW IF EXISTS offer_prices');
  await db.run('DROP TABLE all_offer_prices');
}

/** Predicates that part the products into ranges of about as many runs of days. */
async function planParts(db: Database, partRuns: bigint): Promise<string[]> {
  const rows = await db.rows(
    `SELECT min(product_id) AS first, max(product_id) AS last FROM (
       SELECT product_id, (sum(runs) OVER (ORDER BY product_id) - 1) // $1 AS part
       FROM (SELECT product_id, count(*) AS runs FROM all_offer_prices GROUP BY product_id))
     GROUP BY part ORDER BY part`,
    [partRuns],
  );
  return rows.map(
    ({ first, last }) => `product_id BETWEEN ${quoteLiteral(String(first))} AND ${quoteLiteral(String(last))}`,
  );
}
