import type { DuckDBValue } from '@duckdb/node-api';
import { valueToText } from '../../duckdb/value-json.js';
import type { Output } from './output.js';
import type { ResultSet } from './result-set.js';

/**
 * CSV as in RFC 4180: header, CRLF, quotes where needed. NULL is an empty field, an empty text is `""`.
 * Data is written as it is: a text that a spreadsheet would take for a formula is not altered.
 */
export async function writeCsv({ columns, batches }: ResultSet, output: Output): Promise<bigint> {
  let rows = 0n;
  let open = await output.write(formatRow(columns.map(({ name }) => name)));
  for await (const batch of batches) {
    if (!open) break;
    open = await output.write(batch.map(formatRow).join(''));
    rows += BigInt(batch.length);
  }
  return rows;
}

function formatRow(values: readonly DuckDBValue[]): string {
  return `${values.map(formatField).join(',')}\r\n`;
}

function formatField(value: DuckDBValue): string {
  if (value === null || value === undefined) return '';
  const text = valueToText(value);
  return text === '' || /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
