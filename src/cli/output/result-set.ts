import type { DuckDBResult, DuckDBType, DuckDBValue } from '@duckdb/node-api';

export interface ResultColumn {
  name: string;
  type: DuckDBType;
}

/** A result that streams: rows of exact DuckDB values, in batches. */
export interface ResultSet {
  columns: ResultColumn[];
  batches: AsyncIterable<DuckDBValue[][]>;
  /** Licence and credit texts that go with the data; Arrow carries them in the schema's metadata. */
  credits: string[];
}

/** A DuckDB result as a result set; names of columns are made unique (`id`, `id_1`). */
export function toResultSet(result: DuckDBResult, credits: string[] = []): ResultSet {
  const types = result.columnTypes();
  const columns = result.deduplicatedColumnNames().map((name, i) => ({ name, type: types[i] as DuckDBType }));
  return { columns, batches: result.yieldRows(), credits };
}
