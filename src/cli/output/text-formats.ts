import type { DuckDBValue } from '@duckdb/node-api';
import { rowToJson, valueToText } from '../../sql/value-json.js';
import { escapeControls } from '../plain-text.js';
import type { Output } from './output.js';
import type { ResultSet } from './result-set.js';

/**
 * Writes CSV according to RFC 4180. NULL becomes an empty field, and an empty string becomes `""`. Text isn't changed,
 * even if a spreadsheet would interpret it as a formula. On a terminal, control characters are escaped.
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

/** Writes a JSON array with one row per line, each as an object. Numbers are exact, even beyond 2^53. */
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

/** Writes each row as a JSON object, with the separator between rows. */
export function writeRows(result: ResultSet, output: Output, separator: string): Promise<bigint> {
  const names = result.columns.map(({ name }) => name);
  return writeBatches(result, output, (batch, isFirst) => {
    const text = escapeControls(batch.map((row) => rowToJson(names, row)).join(separator));
    return isFirst ? text : separator + text;
  });
}

/** Writes the batches one after another. Stops early if the reader closes the pipe. Returns the number of rows. */
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
