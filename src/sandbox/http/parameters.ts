import { refuseParameter } from './answers.js';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const INT32_MAX = 2 ** 31 - 1;
/** No price is as large: DECIMAL(18,4) holds no more. */
const BEYOND_PRICES = 10n ** 18n;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,9}))?$/;
const DATE_TIME = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** A request's query parameters. A refusal names the parameter (section 4). */
export class Parameters {
  readonly #query: URLSearchParams;

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  /** An empty parameter counts as not given. */
  text(name: string): string | null {
    return this.#query.get(name) || null;
  }

  int64(name: string): bigint | null {
    const text = this.text(name);
    if (text === null) return null;
    const value = /^-?\d{1,19}$/.test(text) ? BigInt(text) : INT64_MAX + 1n;
    if (value > INT64_MAX || value < INT64_MIN) throw refuseParameter(name, text, 'an integer (int64)');
    return value;
  }

  int32(name: string, bounds: { min: number; max?: number; byDefault: number }): number {
    const { min, max = INT32_MAX, byDefault } = bounds;
    const text = this.text(name);
    if (text === null) return byDefault;
    const value = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    const allowed = bounds.max === undefined ? `an integer from ${min}` : `${min} to ${max}`;
    if (!(value >= min && value <= max)) throw refuseParameter(name, text, allowed);
    return value;
  }

  /** A bound with four decimals, as prices have, rounded so that the comparison stays exact. */
  price(name: string, round: 'up' | 'down'): string | null {
    const text = this.text(name);
    if (text === null) return null;
    const [, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
    if (sign === undefined) throw refuseParameter(name, text, 'a number');
    const isUp = (round === 'up') !== (sign === '-');
    const units = scaleDigits(whole + fraction, Number(exponent) - fraction.length + 4, isUp);
    const digits = String(units).padStart(5, '0');
    return `${sign}${digits.slice(0, -4)}.${digits.slice(-4)}`;
  }

  choice<T extends string>(name: string, allowed: readonly T[], byDefault: T): T;
  choice<T extends string>(name: string, allowed: readonly T[], byDefault: null): T | null;
  choice<T extends string>(name: string, allowed: readonly T[], byDefault: T | null): T | null {
    const text = this.text(name);
    if (text === null) return byDefault;
    const found = allowed.find((value) => value === text);
    if (found === undefined) throw refuseParameter(name, text, allowed.join(', '));
    return found;
  }

  dateTime(name: string): string | null {
    const text = this.text(name);
    if (text === null) return null;
    const [, day] = DATE_TIME.exec(text) ?? [];
    if (day === undefined || !isDay(day) || Number.isNaN(Date.parse(text.replace(/(\.\d{3})\d+/, '$1')))) {
      throw refuseParameter(name, text, 'an ISO 8601 date-time in UTC, such as 2026-11-20T06:00:00Z');
    }
    return text;
  }

  currency(name: string): string | null {
    const text = this.text(name);
    if (text !== null && !/^[A-Za-z]{3}$/.test(text)) throw refuseParameter(name, text, 'an ISO 4217 code');
    return text?.toUpperCase() ?? null;
  }

  /** Without leading zeros, which may be left out. */
  gtin(name: string): string | null {
    const text = this.text(name);
    if (text !== null && !/^\d{1,14}$/.test(text)) throw refuseParameter(name, text, 'up to 14 digits');
    return text?.replace(/^0+/, '') ?? null;
  }
}

/** digits × 10^power as a whole number, rounded up or down, and capped beyond all prices. */
function scaleDigits(digits: string, power: number, isUp: boolean): bigint {
  const value = BigInt(digits);
  if (value === 0n) return 0n;
  if (digits.replace(/^0+/, '').length + power > 19) return BEYOND_PRICES;
  if (power >= 0) return value * 10n ** BigInt(power);
  if (-power > digits.length) return isUp ? 1n : 0n;
  const divisor = 10n ** BigInt(-power);
  const scaled = value / divisor + (isUp && value % divisor !== 0n ? 1n : 0n);
  return scaled > BEYOND_PRICES ? BEYOND_PRICES : scaled;
}

/** Date.parse takes February 30th for March 2nd. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
