import { DuckDBTypeId, type DuckDBValue } from '@duckdb/node-api';
import { isLosslessNumber } from 'lossless-json';
import { parseExactJson } from '../../api/exact-json.js';
import { valueToText } from '../../duckdb/value-json.js';
import { toJsonText } from '../json-text.js';
import { toPlainLine } from '../plain-text.js';
import { measureWidth, truncateToWidth, wrapText } from './display-width.js';
import type { Output } from './output.js';
import type { ResultColumn, ResultSet } from './result-set.js';

export type Align = 'left' | 'right';

const GAP = '  ';
/** No column is squeezed below this to fit a terminal: a GTIN stays whole. */
const LEAST_WIDTH = 14;
// First strong isolate and its end, so that right-to-left text in a cell does not reorder its neighbours.
const ISOLATE = ['\u2068', '\u2069'] as const;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * Lays plain texts out as a table with a header. On a terminal, the widest text columns are cut first; then the last
 * columns are left out, and a line below names them. Numbers are never cut.
 */
export function layOutTable(header: string[], rows: string[][], aligns: Align[], terminal?: number): string {
  const all = header.map((name, i) =>
    rows.reduce((most, row) => Math.max(most, measureWidth(row[i] ?? '')), measureWidth(name)),
  );
  const shown = terminal === undefined ? all.length : countFitting(all, aligns, terminal);
  const widths = terminal === undefined ? all : fitWidths(all.slice(0, shown), aligns, terminal);
  const format = (cells: string[]) =>
    widths.map((width, i) => padCell(cells[i] ?? '', width, aligns[i] ?? 'left', i === shown - 1)).join(GAP);
  const rule = widths.map((width) => '─'.repeat(width)).join(GAP);
  const table = `${[format(header), rule, ...rows.map(format)].join('\n')}\n`;
  if (shown === header.length) return table;
  const note = `… columns that do not fit: ${header.slice(shown).join(', ')}`;
  return `${table}${wrapText(note, terminal, '  ')}\n`;
}

/** How many columns fit, from the left, once their texts are cut; the first is always shown. */
function countFitting(wanted: number[], aligns: Align[], terminal: number): number {
  let used = -GAP.length;
  const over = wanted.findIndex((width, i) => {
    used += GAP.length + (aligns[i] === 'left' ? Math.min(width, LEAST_WIDTH) : width);
    return used > terminal;
  });
  return over < 0 ? wanted.length : Math.max(over, 1);
}

function fitWidths(wanted: number[], aligns: Align[], terminal: number): number[] {
  const widths = [...wanted];
  const room = terminal - GAP.length * (wanted.length - 1);
  for (let over = sum(widths) - room; over > 0; over -= 1) {
    const candidates = widths.map((width, i) => (aligns[i] === 'left' && width > LEAST_WIDTH ? width : 0));
    const widest = candidates.indexOf(Math.max(...candidates));
    if (candidates[widest] === 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function padCell(text: string, width: number, align: Align, last: boolean): string {
  const cut = truncateToWidth(text, width);
  const space = ' '.repeat(Math.max(0, width - measureWidth(cut)));
  const shown = RIGHT_TO_LEFT.test(cut) ? ISOLATE[0] + cut + ISOLATE[1] : cut;
  if (align === 'right') return space + shown;
  return last ? shown : shown + space;
}

function sum(numbers: number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}

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

/** First rows that a check found, JSON text of an array of objects, as a table for eyes. */
export function layOutSample(sample: string, terminal: number | undefined): string {
  const rows = parseExactJson(sample) as Record<string, unknown>[];
  const names = Object.keys(rows[0] ?? {});
  const aligns = names.map((name) => (rows.some((row) => isNumeric(row[name])) ? 'right' : 'left'));
  const cells = rows.map((row) => names.map((name) => toPlainLine(showValue(row[name]))));
  return layOutTable(names.map(toPlainLine), cells, aligns, terminal);
}

const isNumeric = (value: unknown) => typeof value === 'number' || typeof value === 'bigint' || isLosslessNumber(value);

/** Money has at most four decimals; more are those of a double, of which six digits are enough to look at. */
function showValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number')
    return String(Number(value.toFixed(4)) === value ? value : Number(value.toPrecision(6)));
  return typeof value === 'string' || isLosslessNumber(value) ? String(value) : toJsonText(value);
}
