import type { Database } from '../duckdb/connection.js';
import { quoteIdentifier, quoteLiteral } from '../duckdb/quote.js';

/**
 * Rows that one COPY writes at most, a single value of the column aside. DuckDB holds up to a row group of each partition
 * of a COPY: in slices, memory stays the same however many rows a table gets.
 */
export const SLICE_ROWS = 150_000;

/** Rows with one value of the column, null included. */
export interface ValueCount {
  value: string | null;
  rows: bigint;
}

/** Predicates over `column` that part the rows of `select` into slices of neighbouring values, in order. */
export async function planSlices(db: Database, select: string, column: string): Promise<string[]> {
  const name = quoteIdentifier(column);
  const rows = await db.rows(
    `SELECT CAST(${name} AS VARCHAR) AS value, count(*) AS row_count FROM (${select}\n) GROUP BY ${name} ORDER BY ${name} NULLS LAST`,
  );
  const counts = rows.map((row) => ({ value: row.value as string | null, rows: row.row_count as bigint }));
  return groupValues(counts, BigInt(SLICE_ROWS)).map((group) => writePredicate(name, group));
}

/**
 * Neighbours together, in groups of at most `limit` rows. More rows than that make an even number of groups of about the
 * same size: two lanes that write them end together. A value with more rows is alone; no group is empty.
 */
export function groupValues(counts: readonly ValueCount[], limit: bigint): ValueCount[][] {
  const total = counts.reduce((sum, { rows }) => sum + rows, 0n);
  const share = total <= limit ? limit : divideUp(total, 2n * divideUp(total, 2n * limit));
  const groups: ValueCount[][] = [];
  let [rows, before] = [0n, 0n];
  for (const count of counts) {
    const group = groups.at(-1);
    const isMostlyBeyond = 2n * before + count.rows > 2n * share * BigInt(groups.length);
    if (group === undefined || isMostlyBeyond || rows + count.rows > limit) {
      groups.push([count]);
      rows = 0n;
    } else group.push(count);
    rows += count.rows;
    before += count.rows;
  }
  return groups;
}

const divideUp = (a: bigint, b: bigint) => (a + b - 1n) / b;

/** A range, so that row groups outside it are skipped by their statistics. */
function writePredicate(name: string, group: ValueCount[]): string {
  const values = group.flatMap(({ value }) => (value === null ? [] : [value]));
  const [first] = values;
  const range =
    first === undefined ? [] : [`${name} BETWEEN ${quoteLiteral(first)} AND ${quoteLiteral(values.at(-1) ?? first)}`];
  const nulls = values.length < group.length ? [`${name} IS NULL`] : [];
  return [...range, ...nulls].join(' OR ');
}
