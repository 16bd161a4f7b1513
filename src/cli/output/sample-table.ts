import { isLosslessNumber } from 'lossless-json';
import { parseExactJson } from '../../api/exact-json.js';
import { toJsonText } from '../json-text.js';
import { toPlainLine } from '../plain-text.js';
import { layOutTable } from './table-layout.js';

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
