import { DuckDBTypeId, type DuckDBValue } from '@duckdb/node-api';
import { valueToText } from '../../duckdb/value-json.js';
import { toPlainLine } from '../plain-text.js';
import type { Output } from './output.js';
import type { ResultColumn, ResultSet } from './result-set.js';
import { type Align, layOutTable } from './table-layout.js';

/** A table is for eyes: longer results are cut here, with a line that says so. */
const MOST_ROWS = 1000;

const NUMERIC = new Set<DuckDBTypeId>([
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
  DuckDBTypeId.UBIGINT,
  DuckDBTypeId.HUGEINT,
  DuckDBTypeId.UHUGEINT,
  DuckDBTypeId.FLOAT,
  DuckDBTypeId.DOUBLE,
  DuckDBTypeId.DECIMAL,
]);

/** A table that fits the terminal: numbers right-aligned, long texts cut, control characters of the data removed. */
export async function writeTable({ columns, batches }: ResultSet, output: Output): Promise<bigint> {
  const rows: string[][] = [];
  let more = false;
  for await (const batch of batches) {
    more = rows.length + batch.length > MOST_ROWS;
    for (const row of batch.slice(0, MOST_ROWS - rows.length)) rows.push(row.map(formatCell));
    if (more) break;
  }
  const header = columns.map(({ name }) => toPlainLine(name));
  await output.write(layOutTable(header, rows, columns.map(alignOf), output.columns));
  if (more)
    await output.write(`… more than ${MOST_ROWS} rows; --format csv, json, ndjson or arrow writes all of them\n`);
  return BigInt(rows.length);
}

function alignOf({ type }: ResultColumn): Align {
  return NUMERIC.has(type.typeId) ? 'right' : 'left';
}

function formatCell(value: DuckDBValue): string {
  return value === null || value === undefined ? '' : toPlainLine(valueToText(value));
}
