import type { DuckDBValue } from '@duckdb/node-api';
import { rowToJson, valueToText } from '../../sql/value-json.js';
import { escapeControls } from '../plain-text.js';
import type { Output } from './output.js';
import type { ResultSet } from './result-set.js';

/**
 * Writes CSV according to RFC 4180. NULL is an empty field, and an empty string is `""`. Data is written unchanged,
 * even if a spreadsheet would read it as a formula. Control characters are escaped only on a terminal.
 */
export async function writeCsv(result: ResultSet, output: Output): Promise<bigint> {
  const show = output.columns === undefined ? (text: string) => text : escapeControls;
  const formatField = (value: DuckDBValue) => {
    if (value === null || value === undefined) return '';
    const text = show(valueToText(value));
    return text === '' || /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const formatRow = (values: readonly DuckDBValue[]) => `${values.map(formatField).join(',')}\r\n`;
  await output.write(formatRow(result.columns.map(({ name }) => name)));
  return writeBatches(result, output, (batch) => batch.map(formatRow).join(''));
}

/** Writes a JSON array of objects, one row per line. Numbers are exact, even beyond 2^53. */
export async function writeJson(result: ResultSet, output: Output): Promise<bigint> {
  await output.write('[\n');
  const rows = await writeRows(result, output, ',\n');
  await output.write(rows === 0n ? ']\n' : '\n]\n');
  return rows;
}

export async function writeNdjson(result: ResultSet, output: Output): Promise<bigint> {
  const rows = await writeRows(result, output, '\n');
  if (rows > 0n) await output.write('\n');
  return rows;
}

/** Writes rows as JSON objects, with a separator between them. */
export function writeRows(result: ResultSet, output: Output, separator: string): Promise<bigint> {
  const names = result.columns.map(({ name }) => name);
  return writeBatches(result, output, (batch, isFirst) => {
    const text = escapeControls(batch.map((row) => rowToJson(names, row)).join(separator));
    return isFirst ? text : separator + text;
  });
}

/** Writes one batch at a time until the last row, or until the reader closes the pipe. Returns the number of rows. */
async function writeBatches(
  { batches }: ResultSet,
  output: Output,
  format: (batch: DuckDBValue[][], isFirst: boolean) => string,
): Promise<bigint> {
  let rows = 0n;
  for await (const batch of batches) {
    if (batch.length > 0 && !(await output.write(format(batch, rows === 0n)))) break;
    rows += BigInt(batch.length);
  }
  return rows;
}
