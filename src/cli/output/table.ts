import type { DuckDBValue } from '@duckdb/node-api';
import { isLosslessNumber, parse, stringify } from 'lossless-json';
import { isNumberType, valueToText } from '../../sql/value-json.js';
import { toPlainLine } from '../plain-text.js';
import { hangText, truncateToWidth } from './display-width.js';
import { showAmount, showDouble, trimZeros } from './money.js';
import type { Output } from './output.js';
import { MOST_TABLE_ROWS as MOST_ROWS, type ResultSet } from './result-set.js';
import { layOutTable, right } from './table-layout.js';

/**
 * The maximum width of a cell if the output is not a terminal. Texts are truncated even then, because people also read
 * logs and emails.
 */
const MOST_CELLS = 48;

/**
 * Writes a table that fits the terminal. Removes control characters from the data. If the output is not a terminal,
 * long texts are truncated, except license texts.
 */
export async function writeTable({ columns, batches, credits }: ResultSet, output: Output): Promise<bigint> {
  const shown = columns.map(({ name, type }) => (isNumberType(type) ? right(toPlainLine(name)) : toPlainLine(name)));
  const rows: string[][] = [];
  let isCut = false;
  const isWhole = (cell: string, i: number) =>
    output.columns !== undefined || typeof shown[i] !== 'string' || credits.some((text) => cell.includes(text));
  const cut = (cell: string, i: number) => (isWhole(cell, i) ? cell : truncateToWidth(cell, MOST_CELLS));
  const format = formatRow(columns);
  for await (const batch of batches) {
    isCut = rows.length + batch.length > MOST_ROWS;
    for (const row of batch.slice(0, MOST_ROWS - rows.length)) rows.push(format(row).map(cut));
    if (isCut) break;
  }
  const ranks = columns.map(({ rank }, at) => rank ?? at);
  await output.write(layOutTable(shown, rows, output.columns, ranks));
  if (isCut)
    await output.write(`… more than ${MOST_ROWS} rows; use --format csv, json, ndjson or arrow to get all of them\n`);
  return BigInt(rows.length);
}

/** Writes a table, followed by the license texts of its data. */
export async function writeCreditedTable(result: ResultSet, output: Output): Promise<bigint> {
  const rows = await writeTable(result, output);
  const lines = result.credits.map((text) => `${hangText('  ', toPlainLine(text), output.columns)}\n`).join('');
  if (lines !== '')
    await output.write(`\nThis data comes from open-data sources. Include these credits when you share it:\n${lines}`);
  return rows;
}

/** Returns a function that formats the cells of a row. It rounds doubles, and amounts that are computed from prices. */
function formatRow(columns: ResultSet['columns']): (row: readonly DuckDBValue[]) => string[] {
  const currency = columns.findIndex(({ name }) => name === 'currency');
  const show = (name: string, value: DuckDBValue, row: readonly DuckDBValue[]) =>
    typeof value === 'number' ? showDouble(value) : showAmount(name, value, row[currency] ?? null);
  return (row) => columns.map(({ name }, at) => formatCell(show(name, row[at] ?? null, row)));
}

export const formatCell = (value: DuckDBValue): string =>
  value === null || value === undefined ? '' : toPlainLine(valueToText(value));

/** Formats the sample of a check as a table. A sample is a JSON array of objects. */
export function layOutSample(sample: string, terminal: number | undefined): string {
  const rows = parse(sample) as Record<string, unknown>[];
  const names = Object.keys(rows[0] ?? {});
  const columns = names.map((name) => {
    const heading = toPlainLine(name);
    return rows.some((row) => isNumber(row[name])) ? right(heading) : heading;
  });
  const cells = rows.map((row) => names.map((name) => toPlainLine(showValue(row[name]))));
  return layOutTable(columns, cells, terminal);
}

const isNumber = (value: unknown) => isLosslessNumber(value);

/**
 * Formats a value of a sample. A number with exactly four decimals is an amount, and only amounts have trailing zeros.
 */
function showValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (!isLosslessNumber(value)) return typeof value === 'string' ? value : (stringify(value) ?? '');
  const text = String(value);
  if (/^-?\d+$/u.test(text)) return text;
  return /^-?\d+\.\d{4}$/u.test(text) ? trimZeros(text) : showDouble(Number(text));
}
