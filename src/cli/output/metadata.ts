import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { DuckDBTypeId } from '@duckdb/node-api';
import { toJsonText } from '../json-text.js';
import type { Format } from '../shared-options.js';
import type { ResultSet } from './result-set.js';

/** Datatypes of the W3C's "Metadata Vocabulary for Tabular Data"; all other types are text. */
const DATATYPES = new Map<DuckDBTypeId, string>([
  [DuckDBTypeId.BOOLEAN, 'boolean'],
  [DuckDBTypeId.TINYINT, 'integer'],
  [DuckDBTypeId.SMALLINT, 'integer'],
  [DuckDBTypeId.INTEGER, 'integer'],
  [DuckDBTypeId.BIGINT, 'long'],
  [DuckDBTypeId.UTINYINT, 'integer'],
  [DuckDBTypeId.USMALLINT, 'integer'],
  [DuckDBTypeId.UINTEGER, 'long'],
  [DuckDBTypeId.UBIGINT, 'integer'],
  [DuckDBTypeId.HUGEINT, 'integer'],
  [DuckDBTypeId.FLOAT, 'double'],
  [DuckDBTypeId.DOUBLE, 'double'],
  [DuckDBTypeId.DECIMAL, 'decimal'],
  [DuckDBTypeId.DATE, 'date'],
  [DuckDBTypeId.TIMESTAMP, 'dateTime'],
  [DuckDBTypeId.TIMESTAMP_TZ, 'dateTimeStamp'],
]);

/**
 * CSV and JSON have no place for licence texts that every parser would skip. So they are in a file beside,
 * `<file>-metadata.json`, where the W3C's CSV on the Web looks for them; with the types of the columns.
 * @returns its path
 */
export async function writeMetadata(file: string, format: Format, { columns, credits }: ResultSet): Promise<string> {
  const path = `${file}-metadata.json`;
  const described = columns.map(({ name, type }) => ({
    titles: name,
    datatype: DATATYPES.get(type.typeId) ?? 'string',
  }));
  const metadata = {
    '@context': 'http://www.w3.org/ns/csvw',
    url: basename(file),
    'dc:format': format,
    'dc:rights': credits,
    tableSchema: { columns: described },
  };
  await writeFile(path, `${toJsonText(metadata)}\n`);
  return path;
}
