import type { DuckDBResult, DuckDBType, DuckDBValue } from '@duckdb/node-api';
import type { Format } from './format-names.js';
import type { Output } from './output.js';

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

/** Writes a result set to an output; the number of rows written. Stops early when the reader has gone. */
export type WriteFormat = (result: ResultSet, output: Output) => Promise<bigint>;

/** A DuckDB result as a result set; names of columns are made unique (`id`, `id_1`). */
export function toResultSet(result: DuckDBResult, credits: string[] = []): ResultSet {
  const types = result.columnTypes();
  const columns = result.deduplicatedColumnNames().map((name, i) => ({ name, type: types[i] as DuckDBType }));
  return { columns, batches: result.yieldRows(), credits };
}

/** Loads the writer of a format: Arrow's library only where it is wanted. */
export async function loadFormat(format: Format): Promise<WriteFormat> {
  switch (format) {
    case 'table':
      return (await import('./table.js')).writeTable;
    case 'csv':
      return (await import('./csv.js')).writeCsv;
    case 'json':
      return (await import('./json.js')).writeJson;
    case 'ndjson':
      return (await import('./json.js')).writeNdjson;
    case 'arrow':
      return (await import('./arrow.js')).writeArrow;
  }
}
