import type { Format } from '../shared-options.js';
import type { Output } from './output.js';
import type { ResultSet } from './result-set.js';

/** Writes a result set to an output; the number of rows written. Stops early when the reader has gone. */
export type WriteFormat = (result: ResultSet, output: Output) => Promise<bigint>;

/** Loads the writer of a format: Arrow's library only where it is wanted. */
export async function loadFormat(format: Exclude<Format, 'parquet'>): Promise<WriteFormat> {
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
