import type { DuckDBValue } from '@duckdb/node-api';
import { valueToText } from '../../duckdb/value-json.js';
import { escapeControls } from '../plain-text.js';
import type { Output } from './output.js';
import type { ResultSet } from './result-set.js';

/**
 * CSV as in RFC 4180: header, CRLF, quotes where needed. NULL is an empty field, an empty text is `""`.
 * Data is written as it is: a text that a spreadsheet would take for a formula is not altered. A terminal alone gets
 * controls escaped.
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
