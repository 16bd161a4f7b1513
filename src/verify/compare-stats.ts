import { LosslessNumber, parse } from 'lossless-json';
import type { Column } from '../tables/schemas.js';
import type { ExactValue } from './exact-parquet.js';

export interface ColumnFacts {
  rows: number;
  nulls: number;
  min: ExactValue;
  max: ExactValue;
}

/** Updates a column's row count, null count and bounds with more values. Lists have no bounds. */
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

/** Compares strings by their bytes, which gives the order of code points. Treats NaN as the largest number. */
function compareValues(a: ExactValue, b: ExactValue): number {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (typeof a === 'number' && Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
  if (typeof b === 'number' && Number.isNaN(b)) return -1;
  return (a as bigint) < (b as bigint) ? -1 : (a as bigint) > (b as bigint) ? 1 : 0;
}

/** Formats a value like a partition value in the log. Supports all types by which a table can be partitioned. */
export function formatValue(column: Column, value: ExactValue): string | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (column.type === 'DATE') return new Date(Number(value) * 86_400_000).toISOString().slice(0, 10);
  return String(value);
}

interface Stats {
  numRecords?: LosslessNumber;
  minValues?: Record<string, unknown>;
  maxValues?: Record<string, unknown>;
  nullCount?: Record<string, unknown>;
}

export function parseStats(text: string): Stats {
  return parse(text) as Stats;
}

/** The number of code points to which statistics truncate text. */
const PREFIX = 32;

/**
 * Lists the faults of a column's statistics. If `whole` is true, `facts` cover all values of the column, so the bounds
 * must be as tight as the log allows. Otherwise, the bounds only have to include the values in `facts`.
 */
export function compareStats(column: Column, stats: Stats, facts: ColumnFacts, whole: boolean): string[] {
  const faults: string[] = [];
  const nulls = stats.nullCount?.[column.name];
  const counted = nulls instanceof LosslessNumber ? Number(nulls.value) : undefined;
  if (counted !== undefined && (whole ? counted !== facts.nulls : counted < facts.nulls)) {
    faults.push(`${column.name} has ${facts.nulls} nulls, but its statistics record ${counted}`);
  }
  for (const side of ['min', 'max'] as const) {
    const claimed = stats[`${side}Values`]?.[column.name];
    const found = facts[side];
    if (claimed === undefined || found === undefined) continue;
    const bound = readBound(column, claimed);
    if (bound === undefined)
      faults.push(`the ${side} of ${column.name} is ${show(claimed)}, which is not a ${column.type}`);
    else if (!holds(side, bound, found) || (whole && !isTight(column, side, bound, found))) {
      faults.push(`the ${side} of ${column.name} is ${showValue(found)}, but its statistics record ${show(claimed)}`);
    }
  }
  return faults;
}

function holds(side: 'min' | 'max', bound: ExactValue, found: ExactValue): boolean {
  const order = compareValues(bound, found);
  return side === 'min' ? order <= 0 : order >= 0;
}

/**
 * True if a bound is as tight as the log allows. The log truncates text and rounds times to milliseconds. Any other
 * bound must equal the smallest or largest value.
 */
function isTight(column: Column, side: 'min' | 'max', bound: ExactValue, found: ExactValue): boolean {
  if (column.type === 'TIMESTAMP WITH TIME ZONE') {
    const gap = side === 'min' ? (found as bigint) - (bound as bigint) : (bound as bigint) - (found as bigint);
    return gap < 1000n;
  }
  if (compareValues(bound, found) === 0) return true;
  if (!(found instanceof Uint8Array) || !(bound instanceof Uint8Array)) return false;
  const text = [...Buffer.from(found).toString('utf8')];
  const length = [...Buffer.from(bound).toString('utf8')].length;
  return text.length > PREFIX && length <= PREFIX;
}

function readBound(column: Column, claimed: unknown): ExactValue {
  const text = claimed instanceof LosslessNumber ? claimed.value : String(claimed);
  switch (column.type) {
    case 'BIGINT':
      return /^-?\d+$/.test(text) ? BigInt(text) : undefined;
    case 'DECIMAL(18,4)':
      return readUnits(text);
    case 'DOUBLE':
      return Number(text);
    case 'DATE':
      return readTime(`${text}T00:00:00.000Z`, 86_400_000);
    case 'TIMESTAMP WITH TIME ZONE': {
      const ms = Date.parse(text);
      return Number.isNaN(ms) ? undefined : BigInt(ms) * 1000n;
    }
    case 'BOOLEAN':
      return typeof claimed === 'boolean' ? claimed : undefined;
    default:
      return typeof claimed === 'string' ? Buffer.from(claimed, 'utf8') : undefined;
  }
}

/** Parses a decimal into units of its fourth decimal place: `12.5` becomes 125000n. */
function readUnits(text: string): bigint | undefined {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,4}))?$/.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const units = BigInt(whole) * 10_000n + BigInt(fraction.padEnd(4, '0'));
  return sign === '-' ? -units : units;
}

function readTime(text: string, unitMs: number): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms / unitMs;
}

const show = (claimed: unknown) => (claimed instanceof LosslessNumber ? claimed.value : JSON.stringify(claimed));
const showValue = (value: ExactValue) =>
  value instanceof Uint8Array ? JSON.stringify(Buffer.from(value).toString('utf8')) : String(value);
