import type { DuckDBValue } from '@duckdb/node-api';
import { rowToJson, valueToText } from '../../sql/value-json.js';
import { escapeControls } from '../plain-text.js';
import type { Output } from './output.js';
import type { ResultSet } from './result-set.js';

/**
 * CSV as in RFC 4180. NULL is an empty field, an empty text is `""`. Data stays as it is, even if a spreadsheet would take
 * it for a formula; only for a terminal are controls escaped.
 */
export async function writeCsv({ columns, batches }: ResultSet, output: Output): Promise<bigint> {
  let rows = 0n;
  const show = output.columns === undefined ? (text: string) => text : escapeControls;
  const formatRow = (values: readonly DuckDBValue[]) =>
    `${values.map((value) => formatField(value, show)).join(',')}\r\n`;
  let open = await output.write(formatRow(columns.map(({ name }) => name)));
  for await (const batch of batches) {
    if (!open) break;
    open = await output.write(batch.map(formatRow).join(''));
    rows += BigInt(batch.length);
  }
  return rows;
}

function formatField(value: DuckDBValue, show: (text: string) => string): string {
  if (value === null || value === undefined) return '';
  const text = show(valueToText(value));
  return text === '' || /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One JSON array of objects, one row per line. Numbers are exact, even beyond 2^53. */
export async function writeJson(result: ResultSet, output: Output): Promise<bigint> {
  const rows = await writeRows(result, output, { open: '[\n', between: ',\n' });
  await output.write(rows === 0n ? ']\n' : '\n]\n');
  return rows;
}

/** One JSON object per line. */
export async function writeNdjson(result: ResultSet, output: Output): Promise<bigint> {
  const rows = await writeRows(result, output, { open: '', between: '\n' });
  if (rows > 0n) await output.write('\n');
  return rows;
}

/** Rows as JSON objects with a separator between them. */
export async function writeRows(
  { columns, batches }: ResultSet,
  output: Output,
  marks: { open: string; between: string },
): Promise<bigint> {
  const names = columns.map(({ name }) => name);
  let rows = 0n;
  let open = marks.open === '' || (await output.write(marks.open));
  for await (const batch of batches) {
    if (!open) break;
    const text = escapeControls(batch.map((row) => rowToJson(names, row)).join(marks.between));
    if (batch.length > 0) open = await output.write(rows === 0n ? text : marks.between + text);
    rows += BigInt(batch.length);
  }
  return rows;
}
