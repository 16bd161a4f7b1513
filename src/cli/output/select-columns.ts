import type { DuckDBValue } from '@duckdb/node-api';
import type { ResultColumn, ResultSet } from './result-set.js';

/**
 * Of a result what a person reads: columns by name with their headings, as far as the result has them. `show` gives a
 * value the form that it has on a terminal.
 */
export function selectColumns(
  result: ResultSet,
  headings: Record<string, string>,
  show: (name: string, value: DuckDBValue) => DuckDBValue = (_name, value) => value,
): ResultSet {
  const kept = Object.entries(headings).flatMap(([name, heading]) => {
    const index = result.columns.findIndex((column) => column.name === name);
    return index < 0 ? [] : [{ index, name, heading }];
  });
  const columns = kept.map(({ index, heading }) => ({ ...(result.columns[index] as ResultColumn), name: heading }));
  return { columns, batches: pickValues(result.batches, kept, show), credits: result.credits };
}

async function* pickValues(
  batches: ResultSet['batches'],
  kept: { index: number; name: string }[],
  show: (name: string, value: DuckDBValue) => DuckDBValue,
): ResultSet['batches'] {
  for await (const batch of batches) {
    yield batch.map((row) => kept.map(({ index, name }) => show(name, row[index] ?? null)));
  }
}
