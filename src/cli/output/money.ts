import { DuckDBDecimalValue, type DuckDBValue } from '@duckdb/node-api';
import { roundDecimal } from '../../sql/value-json.js';

/**
 * Removes trailing zeros after the second decimal of each amount in a text. For example, `14739.9000` becomes
 * `14739.90`, but `1.0299` stays the same.
 */
export const trimZeros = (text: string): string => text.replaceAll(/(?<=\d\.\d{2}\d*?)0+(?!\d)/gu, '');

/** Formats an amount with all of its digits and at least two decimals. */
export const showMoney = (value: DuckDBValue): DuckDBValue =>
  value instanceof DuckDBDecimalValue ? trimZeros(value.toString()) : value;

/** Formats an amount for people. An amount that is computed from prices is rounded. A price keeps all of its digits. */
export const showAmount = (name: string, value: DuckDBValue, currency: DuckDBValue): DuckDBValue =>
  isComputed(name) ? roundMoney(value, currency) : showMoney(value);

/** Matches the names of columns that are computed from prices. Their values may have more decimals than the prices. */
const COMPUTED = /(?:^|_|\b)(?:median|mean|avg|average|converted)(?:_|\b)/u;

const isComputed = (name: string): boolean => COMPUTED.test(name);

/** Rounds a computed amount to the number of decimals that its currency has. */
function roundMoney(value: DuckDBValue, currency: DuckDBValue): DuckDBValue {
  if (!(value instanceof DuckDBDecimalValue)) return value;
  const decimals = countDecimals(typeof currency === 'string' ? currency : undefined);
  return showMoney(roundDecimal(value, decimals));
}

/**
 * Returns the number of decimals of a currency. This is three for the Kuwaiti dinar and a few others, and otherwise
 * two.
 */
function countDecimals(currency: string | undefined): number {
  return currency !== undefined && THREE_DECIMALS.has(currency) ? 3 : 2;
}

const THREE_DECIMALS: ReadonlySet<string> = new Set(['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND']);

/**
 * Formats a double. A value with more than four decimals is rounded. If its absolute value is 10,000 or more, it gets
 * two decimals, and otherwise six significant digits.
 */
export function showDouble(value: number): string {
  if (!Number.isFinite(value) || Number(value.toFixed(4)) === value) return String(value);
  return String(Number(Math.abs(value) >= 10_000 ? value.toFixed(2) : value.toPrecision(6)));
}
