import type { Column } from '../tables/schemas.js';
import type { ExactValue } from './exact-parquet.js';

/** What the values of a column say of it. */
export interface ColumnFacts {
  rows: number;
  nulls: number;
  min: ExactValue;
  max: ExactValue;
}

/** Adds values of a column; lists have no order, and of them only nulls are counted. */
export function addValues(column: Column, facts: ColumnFacts | undefined, values: ExactValue[]): ColumnFacts {
  const result = facts ?? { rows: 0, nulls: 0, min: undefined, max: undefined };
  const ordered = column.type !== 'VARCHAR[]';
  for (const value of values) {
    if (value === null || value === undefined) result.nulls += 1;
    else if (ordered) {
      if (result.min === undefined || compareValues(value, result.min) < 0) result.min = value;
      if (result.max === undefined || compareValues(value, result.max) > 0) result.max = value;
    }
  }
  result.rows += values.length;
  return result;
}

/** Texts by their bytes, which is the order of their code points; numbers as numbers. NaN is above all. */
export function compareValues(a: ExactValue, b: ExactValue): number {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (typeof a === 'number' && Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
  if (typeof b === 'number' && Number.isNaN(b)) return -1;
  return (a as bigint) < (b as bigint) ? -1 : (a as bigint) > (b as bigint) ? 1 : 0;
}

/** A value as DuckDB and the log's partition values write it. */
export function formatValue(column: Column, value: ExactValue): string | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (column.type === 'DATE') return new Date(Number(value) * 86_400_000).toISOString().slice(0, 10);
  return String(value);
}
