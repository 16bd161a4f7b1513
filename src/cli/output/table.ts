import type { DuckDBValue } from '@duckdb/node-api';
import { isLosslessNumber } from 'lossless-json';
import { parseExactJson } from '../../api/exact-json.js';
import { valueToText } from '../../sql/value-json.js';
import { toJsonText } from '../json-text.js';
import { toPlainLine } from '../plain-text.js';
import { truncateToWidth } from './display-width.js';
import type { Output } from './output.js';
import { isNumeric, type ResultSet } from './result-set.js';
import { layOutTable, right } from './table-layout.js';

/** Nobody reads more in a table. A line says that it was cut. */
const MOST_ROWS = 1000;
/** Cells of a text without a terminal, because people read logs and e-mails, too. */
const MOST_CELLS = 48;

/**
 * Writes a table that fits the terminal, without the control characters of the data. Without a terminal, texts are cut as
 * well, but credits never are.
 */
export async function writeTable({ columns, batches, credits }: ResultSet, output: Output): Promise<bigint> {
  const shown = columns.map(({ name, type }) => (isNumeric(type) ? right(toPlainLine(name)) : toPlainLine(name)));
  const rows: string[][] = [];
  let more = false;
  const isWhole = (cell: string, i: number) =>
    output.columns !== undefined || typeof shown[i] !== 'string' || credits.some((text) => cell.includes(text));
  const cut = (cell: string, i: number) => (isWhole(cell, i) ? cell : truncateToWidth(cell, MOST_CELLS));
  for await (const batch of batches) {
    more = rows.length + batch.length > MOST_ROWS;
    for (const row of batch.slice(0, MOST_ROWS - rows.length)) rows.push(row.map(formatCell).map(cut));
    if (more) break;
  }
  await output.write(layOutTable(shown, rows, output.columns));
  if (more)
    await output.write(`… more than ${MOST_ROWS} rows; use --format csv, json, ndjson or arrow to get all of them\n`);
  return BigInt(rows.length);
}

/** Writes the table with the credits below it. */
export async function writeCreditedTable(result: ResultSet, output: Output): Promise<bigint> {
  const rows = await writeTable(result, output);
  const lines = result.credits.map((text) => `  ${toPlainLine(text)}\n`).join('');
  if (lines !== '')
    await output.write(`\nThis data comes from open-data sources. Pass these credits on with it:\n${lines}`);
  return rows;
}

export const formatCell = (value: DuckDBValue): string =>
  value === null || value === undefined ? '' : toPlainLine(valueToText(value));

/** Lays out the first rows that a check found, a JSON array of objects. */
export function layOutSample(sample: string, terminal: number | undefined): string {
  const rows = parseExactJson(sample) as Record<string, unknown>[];
  const names = Object.keys(rows[0] ?? {});
  const columns = names.map((name) => {
    const heading = toPlainLine(name);
    return rows.some((row) => isNumber(row[name])) ? right(heading) : heading;
  });
  const cells = rows.map((row) => names.map((name) => toPlainLine(showValue(row[name]))));
  return layOutTable(columns, cells, terminal);
}

const isNumber = (value: unknown) => typeof value === 'number' || typeof value === 'bigint' || isLosslessNumber(value);

/** Money has at most four decimals. Numbers with more are doubles, and six of their digits are enough to look at. */
function showValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number')
    return String(Number(value.toFixed(4)) === value ? value : Number(value.toPrecision(6)));
  return typeof value === 'string' || isLosslessNumber(value) ? String(value) : toJsonText(value);
}
