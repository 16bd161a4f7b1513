import {
  DuckDBArrayValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
} from '@duckdb/node-api';

/**
 * Converts a DuckDB value to JSON without loss: integers and DECIMALs with all digits, times as ISO 8601, NaN and
 * infinities as text. A value of a type that JSON lacks becomes text as DuckDB prints it.
 */
function valueToJson(value: DuckDBValue): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number') return Number.isFinite(value) ? JSON.stringify(value) : JSON.stringify(String(value));
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof DuckDBDecimalValue) return value.toString();
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) {
    return `[${value.items.map(valueToJson).join(',')}]`;
  }
  if (value instanceof DuckDBStructValue) return rowToJson(Object.keys(value.entries), Object.values(value.entries));
  if (value instanceof DuckDBMapValue) {
    const entries = value.entries.map(({ key, value: member }) => rowToJson(['key', 'value'], [key, member]));
    return `[${entries.join(',')}]`;
  }
  return JSON.stringify(valueToText(value));
}

export function rowToJson(names: readonly string[], values: readonly DuckDBValue[]): string {
  return `{${names.map((name, i) => `${JSON.stringify(name)}:${valueToJson(values[i] ?? null)}`).join(',')}}`;
}

/** Converts a value to plain text: numbers with all digits, times as ISO 8601, nested values as JSON. */
export function valueToText(value: Exclude<DuckDBValue, null>): string {
  if (value instanceof DuckDBTimestampTZValue) return formatInstant(value, 'Z');
  if (value instanceof DuckDBTimestampValue) return formatInstant(value, '');
  const nested =
    value instanceof DuckDBListValue ||
    value instanceof DuckDBArrayValue ||
    value instanceof DuckDBStructValue ||
    value instanceof DuckDBMapValue;
  return nested ? valueToJson(value) : String(value);
}

/** Formats a time as `2026-11-20T09:00:00.123456Z`. Omits a fraction of zero. */
function formatInstant(value: DuckDBTimestampTZValue | DuckDBTimestampValue, suffix: string): string {
  const milliseconds = floorDivide(value.micros, 1000n);
  const date = new Date(Number(milliseconds));
  // A Date can't represent infinity, or years that are far in the past or future.
  if (!value.isFinite || Number.isNaN(date.getTime())) return String(value);
  const fraction = (value.micros - floorDivide(value.micros, 1_000_000n) * 1_000_000n).toString().padStart(6, '0');
  const seconds = date.toISOString().replace(/\.\d+Z$/u, '');
  return `${seconds}${fraction === '000000' ? '' : `.${fraction}`}${suffix}`;
}

function floorDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend < 0n && quotient * divisor !== dividend ? quotient - 1n : quotient;
}

const { TINYINT, SMALLINT, INTEGER, BIGINT, HUGEINT, FLOAT, DOUBLE, DECIMAL } = DuckDBTypeId;
const { UTINYINT, USMALLINT, UINTEGER, UBIGINT, UHUGEINT } = DuckDBTypeId;
const SIGNED = [TINYINT, SMALLINT, INTEGER, BIGINT, HUGEINT, FLOAT, DOUBLE, DECIMAL];
const NUMBERS = new Set([...SIGNED, UTINYINT, USMALLINT, UINTEGER, UBIGINT, UHUGEINT]);

export const isNumberType = ({ typeId }: DuckDBType): boolean => NUMBERS.has(typeId);

/** Rounds an amount to this number of decimals, half away from zero. An amount with fewer decimals stays as it is. */
export function roundDecimal(amount: DuckDBDecimalValue, decimals: number): DuckDBDecimalValue {
  const { value, scale, width } = amount;
  if (scale <= decimals) return amount;
  const unit = 10n ** BigInt(scale - decimals);
  const half = value < 0n ? -unit / 2n : unit / 2n;
  return new DuckDBDecimalValue((value + half) / unit, width, decimals);
}
