import type { DuckDBResult, DuckDBType, DuckDBValue } from '@duckdb/node-api';
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
