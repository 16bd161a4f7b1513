import type { RelationGraph } from '../sql/graph.js';
import { bindQuery, readAnalysis, type Source } from '../sql/model.js';
import { quoteLiteral } from '../sql/quote.js';
import type { Relation } from '../sql/relation.js';
import { code, type Sql, sql, writeTyped } from '../sql/sql.js';

/** A range of UTC days such as `2026-11-20`. It includes both days. */
export interface DayRange {
  first: string;
  last: string;
}

export interface DailySources {
  items: Source;
  history: Source;
  sites: Source;
}

/** The number of prices in a part. Processing a part of this size needs less than 200 MB of memory. */
const PART_RUNS = 300_000n;

/** Selects the prices of offers on these days. The prices of an offer don't depend on other offers. */
function selectOfferPrices({ items, history }: Omit<DailySources, 'sites'>, days: DayRange): Sql {
  return bindQuery(readAnalysis('offer_prices'), { items, history }, writeDays(days));
}

/**
 * Selects rows of price_spread_daily (schemas/price_spread_daily.yaml), given the prices of all offers of the products.
 */
function selectSpreads(offer_prices: Sql, sites: Source, { runId, ...days }: DayRange & { runId: string }): Sql {
  const values = { ...writeDays(days), run_id: writeTyped('VARCHAR', runId) };
  return bindQuery(readAnalysis('price_spread_daily'), { offer_prices, sites }, values);
}

/** Yields queries for the rows of price_spread_daily, each for one part of the products. */
export async function* selectDailySpreads(
  graph: RelationGraph,
  { items, history, sites }: DailySources,
  { runId, ...days }: DayRange & { runId: string },
  partRuns = PART_RUNS,
): AsyncGenerator<Sql> {
  const all = graph.table('offer_prices', selectOfferPrices({ items, history }, days));
  for (const predicate of await planParts(graph, all, partRuns)) {
    yield selectSpreads(sql`FROM ${all} WHERE ${code(predicate)}`, sites, { ...days, runId });
  }
  await graph.drop(all);
}

function writeDays({ first, last }: DayRange): { first_day: string; last_day: string } {
  const write = (day: string) => `CAST(${quoteLiteral(day)} AS DATE)`;
  return { first_day: write(first), last_day: write(last) };
}

/** Divides the products into ranges with about the same number of prices. Returns a predicate for each range. */
async function planParts(graph: RelationGraph, prices: Relation, partRuns: bigint): Promise<string[]> {
  const rows = await graph.rows(
    sql`SELECT min(product_id) AS first, max(product_id) AS last FROM (
       SELECT product_id, (sum(runs) OVER (ORDER BY product_id) - 1) // ${partRuns} AS part
       FROM (SELECT product_id, count(*) AS runs FROM ${prices} GROUP BY product_id))
     GROUP BY part ORDER BY part`,
  );
  return rows.map(
    ({ first, last }) => `product_id BETWEEN ${quoteLiteral(String(first))} AND ${quoteLiteral(String(last))}`,
  );
}
