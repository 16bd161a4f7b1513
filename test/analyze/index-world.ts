import type { DuckDBValue } from '@duckdb/node-api';
import { setVariables } from '../../src/analyze/analysis.js';
import { readVariables } from '../../src/analyze/variables.js';
import type { Database } from '../../src/sql/connection.js';
import { readAnalysis } from '../../src/sql/model.js';
import { openEmptyTables } from '../check/lake-world.js';

/** An item in a month (0 is January 2025): its price in units of 0.0001, and how much of it was sold. */
export type Sold = [item: number, month: number, units: number, quantity: number];

const UNSET = Object.fromEntries(readVariables('weighted_index').map(({ name }) => [name, null]));

export interface IndexWorld {
  db: Database;
  /** Rows of an analysis with no other variables than these. */
  ask(analysis: string, variables: Record<string, string | null>): Promise<Record<string, DuckDBValue>[]>;
}

/** Prices and turnover of a panel, as price indices read them: spells, and weights by item. */
export async function openIndexWorld(panel: readonly Sold[]): Promise<IndexWorld> {
  const db = await openEmptyTables();
  await db.run(
    `CREATE TABLE panel AS
     SELECT (v->>0)::BIGINT AS item, (v->>1)::INTEGER AS month, (v->>2)::BIGINT AS units, (v->>3)::DECIMAL(18, 4) AS quantity
     FROM (SELECT unnest(from_json($1, '["JSON"]')) AS v)`,
    [JSON.stringify(panel)],
  );
  await db.run(`CREATE TABLE price_spells AS
    SELECT item AS item_id, 'p' || item AS product_id, item % 3 + 1 AS site_id, 'EUR' AS currency,
      (units * 0.0001)::DECIMAL(18, 4) AS price,
      -- A month's price stands from some day of it to the first of the next one.
      (DATE '2025-01-01' + to_months(month))::DATE + (item % 9)::INTEGER AS from_day,
      (DATE '2025-02-01' + to_months(month))::DATE AS to_day,
      from_day::TIMESTAMP AT TIME ZONE 'UTC' AS from_at, to_day::TIMESTAMP AT TIME ZONE 'UTC' AS to_at,
      false AS is_suspect, 'toys' AS category_slug, 'UTC' AS time_zone
    FROM panel`);
  await db.run(`INSERT INTO items BY NAME SELECT DISTINCT item AS item_id, 'r1' AS run_id,
    unnest(['toys', 'alone', 'rare']) AS category_slug,
    (SELECT (DATE '2025-01-30' + to_months(max(month)))::TIMESTAMP AT TIME ZONE 'UTC' + INTERVAL 12 HOURS FROM panel) AS last_seen_at
    FROM panel`);
  await db.run(
    `INSERT INTO sites BY NAME SELECT range AS site_id, 'Shop ' || range AS name, true AS is_current FROM range(1, 4)`,
  );
  // Amounts are exact.
  await db.run(`CREATE TABLE weights AS
    SELECT 'item' AS kind, item::VARCHAR AS unit, (DATE '2025-01-01' + to_months(month))::DATE AS period,
      (units * 0.0001 * quantity)::DECIMAL(28, 10) AS weight
    FROM panel`);
  await db.run('CREATE TABLE tree (child VARCHAR, parent VARCHAR)');
  return {
    db,
    ask: async (analysis, variables) => {
      await setVariables(db, { ...UNSET, ...variables });
      return db.rows(readAnalysis(analysis));
    },
  };
}
