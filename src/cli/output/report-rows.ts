import {
  DuckDBArrayValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import { valueToText } from '../../sql/value-json.js';
import { RawJson } from '../json-text.js';

/** Converts a DuckDB value to a value for a report. Keeps all digits of numbers, and the type if JSON has it. */
export function toReportValue(value: DuckDBValue | undefined): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'boolean' || typeof value === 'bigint') return value;
  if (value instanceof DuckDBDecimalValue) return new RawJson(value.toString());
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) return value.items.map(toReportValue);
  if (value instanceof DuckDBStructValue) return toReportRow(Object.keys(value.entries), Object.values(value.entries));
  if (value instanceof DuckDBMapValue) {
    return value.entries.map(({ key, value: member }) => toReportRow(['key', 'value'], [key, member]));
  }
  return valueToText(value);
}

/** Converts a row to a map. Its keys are the column names, which `--json` prints unchanged. */
export const toReportRow = (names: readonly string[], row: readonly DuckDBValue[]): Map<string, unknown> =>
  new Map(names.map((name, at) => [name, toReportValue(row[at])]));

export const toReportRows = ({ names, rows }: { names: readonly string[]; rows: readonly DuckDBValue[][] }) =>
  rows.map((row) => toReportRow(names, row));
