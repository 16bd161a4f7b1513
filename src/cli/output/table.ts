import { DuckDBTypeId, type DuckDBValue } from '@duckdb/node-api';
import { valueToText } from '../../duckdb/value-json.js';
import { toPlainLine } from '../plain-text.js';
import { truncateToWidth } from './display-width.js';
import type { Output } from './output.js';
import type { ResultColumn, ResultSet } from './result-set.js';
import { type Align, layOutTable } from './table-layout.js';

/** A table is for eyes: longer results are cut here, with a line that says so. */
const MOST_ROWS = 1000;
/** Cells of a text where no terminal sets a limit: logs and e-mails are for eyes as well. */
const MOST_CELLS = 48;

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

/**
 * A table that fits the terminal: numbers right-aligned, long texts cut, control characters of the data removed.
 * Elsewhere a text takes at most 48 cells, if it is no credit.
 */
export async function writeTable({ columns, batches, credits }: ResultSet, output: Output): Promise<bigint> {
  const aligns = columns.map(alignOf);
  const rows: string[][] = [];
  let more = false;
  const isWhole = (cell: string, i: number) =>
    output.columns !== undefined || aligns[i] === 'right' || credits.some((text) => cell.includes(text));
  const cut = (cell: string, i: number) => (isWhole(cell, i) ? cell : truncateToWidth(cell, MOST_CELLS));
  for await (const batch of batches) {
    more = rows.length + batch.length > MOST_ROWS;
    for (const row of batch.slice(0, MOST_ROWS - rows.length)) rows.push(row.map(formatCell).map(cut));
    if (more) break;
  }
  const header = columns.map(({ name }) => toPlainLine(name));
  await output.write(layOutTable(header, rows, aligns, output.columns));
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
