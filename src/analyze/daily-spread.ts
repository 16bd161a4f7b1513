import type { RelationGraph } from '../sql/graph.js';
import { bindQuery, readAnalysis, type Source } from '../sql/model.js';
import { quoteLiteral } from '../sql/quote.js';
import type { Relation } from '../sql/relation.js';
import { code, type Sql, sql, writeTyped } from '../sql/sql.js';

/** Days, both included: `2026-11-20`, in UTC. */
export interface DayRange {
  first: string;
  last: string;
}

/** The tables that days follow from. */
export interface DailySources {
  items: Source;
  history: Source;
  sites: Source;
}

/** Runs of days of offers in a part, so that its figures take less than 200 MB of memory. */
const PART_RUNS = 300_000n;

/** Selects rows of price_spread_daily (schemas/price_spread_daily.yaml), one part of the products after another. */
export async function* selectDailySpreads(
  graph: RelationGraph,
  { items, history, sites }: DailySources,
  { first, last, runId }: DayRange & { runId: string },
  partRuns = PART_RUNS,
): AsyncGenerator<Sql> {
  const [first_day, last_day] = [first, last].map((day) => `CAST(${quoteLiteral(day)} AS DATE)`) as [string, string];
  const prices = bindQuery(readAnalysis('offer_prices'), { items, history }, { first_day, last_day });
  const all = graph.table('offer_prices', prices);
  const query = readAnalysis('price_spread_daily');
  for (const predicate of await planParts(graph, all, partRuns)) {
    const offer_prices = sql`FROM ${all} WHERE ${code(predicate)}`;
    const values = { first_day, last_day, run_id: writeTyped('VARCHAR', runId) };
    yield bindQuery(query, { offer_prices, sites }, values);
  }
  await graph.drop(all);
}

/** Divides the products into ranges with about equally many runs of days. Gives their predicates. */
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
