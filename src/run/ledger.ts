import type { Database } from '../duckdb/connection.js';
import { quoteIdentifier } from '../duckdb/quote.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { RunMode, TableName } from '../tables/table.js';

/** A row of table `runs` (schemas/runs.yaml). */
export type RunRow = {
  run_number: bigint;
  run_id: string;
  pipeline: string;
  mode: RunMode;
  reason: string;
  started_at: string;
  finished_at: string;
  seconds: number;
  tries: bigint;
  cursor_from: bigint | null;
  cursor_to: bigint | null;
  caught_up: boolean;
  stale_items: bigint | null;
  caught_up_at: string | null;
  listing_unknown: bigint | null;
  calls: bigint;
  calls_refused: bigint;
  export_rows: bigint;
  export_rows_landed: bigint;
  export_rows_lost: bigint;
  overage: boolean;
  overage_blocks: bigint;
  usage_calls: bigint | null;
  usage_export_rows: bigint | null;
  bytes_received: bigint;
  received: bigint;
  written: bigint;
  rejected: bigint;
  deduplicated: bigint;
  differences: bigint;
  difference_columns: string;
  missed: bigint;
  gone: bigint;
  sampled: bigint;
  sample_mismatches: bigint;
  mismatch_bound: number;
  sample_differences: string;
  products_compared: bigint;
  products_different: bigint;
  product_differences: string;
  facets_compared: bigint;
  facets_different: bigint;
  facet_differences: string;
  schema_drift: string;
  items: bigint;
  pricelake_version: string;
  duckdb_version: string;
};

/** The row equation's terms. */
export interface RowTally {
  received: bigint;
  written: bigint;
  rejected: bigint;
  deduplicated: bigint;
}

/** Rows of one statement: a statement a row takes longer to plan than to run. */
const ROWS_AT_ONCE = 100;

type Value = string | number | bigint | boolean | null | undefined;

/** Makes temp table `name` with the columns of `table` and puts rows into it, each value bound as text and cast. */
export async function loadRows(
  db: Database,
  name: string,
  table: TableName,
  rows: readonly Record<string, Value>[],
): Promise<void> {
  const { columns } = loadTableSchema(table);
  const target = quoteIdentifier(name);
  await db.run(
    `CREATE OR REPLACE TEMP TABLE ${target} (${columns.map((c) => `${quoteIdentifier(c.name)} ${c.type}`).join(', ')})`,
  );
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const some = rows.slice(start, start + ROWS_AT_ONCE);
    const tuples = some.map((_, place) => {
      const casts = columns.map(({ type }, at) => `CAST($${place * columns.length + at + 1} AS ${type})`);
      return `(${casts.join(', ')})`;
    });
    const values = some.flatMap((row) => columns.map(({ name: column }) => toText(row[column])));
    await db.run(`INSERT INTO ${target} VALUES ${tuples.join(', ')}`, values);
  }
}

function toText(value: Value): string | null {
  return value === null || value === undefined ? null : String(value);
}
