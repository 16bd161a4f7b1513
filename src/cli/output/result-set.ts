import { DuckDBDecimalValue, type DuckDBResult, type DuckDBType, type DuckDBValue } from '@duckdb/node-api';
import type { Database } from '../../duckdb/connection.js';

export interface ResultColumn {
  name: string;
  type: DuckDBType;
}

/** A result as SQL, which DuckDB itself writes to Parquet. */
export interface Relation {
  db: Database;
  /** What follows FROM. */
  from: string;
  /** A file that `db` may write, for a result that goes to stdout. */
  scratch: string;
}

/** A result that streams: rows of exact DuckDB values, in batches. */
export interface ResultSet {
  columns: ResultColumn[];
  batches: AsyncIterable<DuckDBValue[][]>;
  /** Licence and credit texts that go with the data; Arrow and Parquet carry them in the file's own metadata. */
  credits: string[];
  /** The same as SQL, for what DuckDB writes by itself. */
  relation?: Relation | undefined;
}

/** A DuckDB result as a result set; names of columns are made unique (`id`, `id_1`). */
export function toResultSet(result: DuckDBResult, credits: string[] = []): ResultSet {
  const types = result.columnTypes();
  const columns = result.deduplicatedColumnNames().map((name, i) => ({ name, type: types[i] as DuckDBType }));
  return { columns, batches: result.yieldRows(), credits };
}

/** Gives a value the form that it has on a terminal; `read` gives the row's other values by name. */
type ShowValue = (name: string, value: DuckDBValue, read: (name: string) => DuckDBValue) => DuckDBValue;

/** Of a result what a person reads: columns by name with their headings, as far as the result has them. */
export function selectColumns(result: ResultSet, headings: Record<string, string>, show: ShowValue): ResultSet {
  const find = (name: string) => result.columns.findIndex((column) => column.name === name);
  const kept = Object.entries(headings).flatMap(([name, heading]) => {
    const index = find(name);
    return index < 0 ? [] : [{ index, name, heading }];
  });
  const columns = kept.map(({ index, heading }) => ({ ...(result.columns[index] as ResultColumn), name: heading }));
  const pick = (row: DuckDBValue[]) => {
    const read = (name: string) => row[find(name)] ?? null;
    return kept.map(({ index, name }) => show(name, row[index] ?? null, read));
  };
  return { columns, batches: mapRows(result.batches, pick), credits: result.credits };
}

async function* mapRows(
  batches: ResultSet['batches'],
  pick: (row: DuckDBValue[]) => DuckDBValue[],
): ResultSet['batches'] {
  for await (const batch of batches) yield batch.map(pick);
}

/** Money for eyes: no digit is lost, and no zero shown beyond the cents. */
export function showMoney(value: DuckDBValue): DuckDBValue {
  return value instanceof DuckDBDecimalValue ? value.toString().replace(/(\.\d{2}\d*?)0+$/u, '$1') : value;
}
