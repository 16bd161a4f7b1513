import { DuckDBDecimalValue, type DuckDBValue } from '@duckdb/node-api';
import { roundDecimal } from '../../sql/value-json.js';

/** Drops zeros behind the cents of amounts in a text, and no other digit: `14739.9000` is `14739.90`, `1.0299` stays. */
export const trimZeros = (text: string): string => text.replaceAll(/(?<=\d\.\d{2}\d*?)0+(?!\d)/gu, '');

/** An amount with all its digits, and at least two decimals. */
export const showMoney = (value: DuckDBValue): DuckDBValue =>
  value instanceof DuckDBDecimalValue ? trimZeros(value.toString()) : value;

/** An amount for a person: rounded if its column is computed from prices, else with all its digits. */
export const showAmount = (name: string, value: DuckDBValue, currency: DuckDBValue): DuckDBValue =>
  isComputed(name) ? roundMoney(value, currency) : showMoney(value);

/** Names of columns whose values are computed from prices, and may have more decimals than any of them. */
const COMPUTED = /(?:^|_|\b)(?:median|mean|avg|average|converted)(?:_|\b)/u;

const isComputed = (name: string): boolean => COMPUTED.test(name);

/** A computed amount, rounded, with the decimals of its currency: two for most. */
function roundMoney(value: DuckDBValue, currency: DuckDBValue): DuckDBValue {
  if (!(value instanceof DuckDBDecimalValue)) return value;
  const decimals = countDecimals(typeof currency === 'string' ? currency : undefined);
  return showMoney(roundDecimal(value, decimals));
}

/** Dinars of Kuwait and others have three; nobody wants fewer than two. */
function countDecimals(currency: string | undefined): number {
  return currency !== undefined && THREE_DECIMALS.has(currency) ? 3 : 2;
}

const THREE_DECIMALS: ReadonlySet<string> = new Set(['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND']);

/** A double with at least six digits and two decimals, as far as it has them. */
export function showDouble(value: number): string {
  if (!Number.isFinite(value) || Number(value.toFixed(4)) === value) return String(value);
  return String(Number(Math.abs(value) >= 10_000 ? value.toFixed(2) : value.toPrecision(6)));
}
