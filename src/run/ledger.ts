import type { Database } from '../duckdb/connection.js';
import { quoteIdentifier } from '../duckdb/quote.js';
import type { RunsRow } from '../tables/rows.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { RunMode, TableName } from '../tables/table.js';

/** A row of table `runs` (schemas/runs.yaml). */
export type RunRow = RunsRow & { mode: RunMode };

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
    `CREATE OR REPLACE TABLE ${target} (${columns.map((c) => `${quoteIdentifier(c.name)} ${c.type}`).join(', ')})`,
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
