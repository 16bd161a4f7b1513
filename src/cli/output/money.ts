import { DuckDBDecimalValue, type DuckDBValue } from '@duckdb/node-api';
import { roundDecimal } from '../../sql/value-json.js';

/**
 * Drops zeros after the cents of amounts in a text, and no other digit: `14739.9000` becomes `14739.90`, `1.0299`
 * stays.
 */
export const trimZeros = (text: string): string => text.replaceAll(/(?<=\d\.\d{2}\d*?)0+(?!\d)/gu, '');

/** Shows an amount with all its digits, and at least two decimals. */
export const showMoney = (value: DuckDBValue): DuckDBValue =>
  value instanceof DuckDBDecimalValue ? trimZeros(value.toString()) : value;

/** Shows an amount to a person: rounded if its column is computed from prices, otherwise with all its digits. */
export const showAmount = (name: string, value: DuckDBValue, currency: DuckDBValue): DuckDBValue =>
  isComputed(name) ? roundMoney(value, currency) : showMoney(value);

/** Names of columns that are computed from prices, and may have more decimals than the prices. */
const COMPUTED = /(?:^|_|\b)(?:median|mean|avg|average|converted)(?:_|\b)/u;

const isComputed = (name: string): boolean => COMPUTED.test(name);

/** Rounds a computed amount to the decimals of its currency, which are two for most. */
function roundMoney(value: DuckDBValue, currency: DuckDBValue): DuckDBValue {
  if (!(value instanceof DuckDBDecimalValue)) return value;
  const decimals = countDecimals(typeof currency === 'string' ? currency : undefined);
  return showMoney(roundDecimal(value, decimals));
}

/** The decimals of a currency: three for Kuwait's dinar and a few others, otherwise two. */
function countDecimals(currency: string | undefined): number {
  return currency !== undefined && THREE_DECIMALS.has(currency) ? 3 : 2;
}

const THREE_DECIMALS: ReadonlySet<string> = new Set(['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND']);

/**
 * Formats a double. If it has more than four decimals, rounds it to six significant digits, or to cents from 10,000 on.
 */
export function showDouble(value: number): string {
  if (!Number.isFinite(value) || Number(value.toFixed(4)) === value) return String(value);
  return String(Number(Math.abs(value) >= 10_000 ? value.toFixed(2) : value.toPrecision(6)));
}
