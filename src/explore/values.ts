import { DuckDBDateValue, DuckDBDecimalValue, DuckDBTimestampTZValue, type DuckDBValue } from '@duckdb/node-api';
import type { Answer } from './question.js';

/** Reads a value of a row by column name, or returns null if the answer has no such column. */
export type ReadValue = (name: string) => DuckDBValue;

export function readRow({ columns }: Answer, row: readonly DuckDBValue[] | undefined): ReadValue {
  return (name) => row?.[columns.findIndex((column) => column.name === name)] ?? null;
}

export const readFirst = (answer: Answer): ReadValue => readRow(answer, answer.rows[0]);

export const readAll = (answer: Answer): ReadValue[] => answer.rows.map((row) => readRow(answer, row));

/** Returns a 64-bit integer value; 0 for null and for values of other types. */
export const toBigInt = (value: DuckDBValue): bigint => (typeof value === 'bigint' ? value : 0n);

/** Converts a number for drawing, which may round it; undefined for null. Don't use it to compute amounts. */
export function toNumber(value: DuckDBValue): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'bigint' || value instanceof DuckDBDecimalValue) return Number(value.toString());
  return undefined;
}

/** Converts a value to text; undefined for null. */
export const toText = (value: DuckDBValue): string | undefined =>
  value === null || value === undefined ? undefined : String(value);

const MOST_MILLISECONDS = 8.64e15;

/** Converts a date or time to a Date; undefined for null, and for times outside the range of Date. */
export function toDate(value: DuckDBValue): Date | undefined {
  const at = value instanceof DuckDBDateValue ? value.days * 86_400_000 : toMilliseconds(value);
  return at === undefined || Math.abs(at) > MOST_MILLISECONDS ? undefined : new Date(at);
}

const toMilliseconds = (value: DuckDBValue): number | undefined =>
  value instanceof DuckDBTimestampTZValue ? Number(value.micros / 1000n) : undefined;

export const toCheck = (read: ReadValue): { violations: bigint; description: string } => ({
  violations: toBigInt(read('violations')),
  description: String(read('description')),
});
