import { refuseParameter } from './api-error.js';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const INT32_MAX = 2 ** 31 - 1;
/** DECIMAL(18,4) holds no more. */
const PRICE_MAX = '99999999999999.9999';
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;

/** A request's query parameters, each refused with its name when it isn't valid (section 4). */
export class Parameters {
  readonly #query: URLSearchParams;

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  /** A parameter that is absent or empty counts as not given. */
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

  /** A decimal as text: it goes to DuckDB as written, or as the nearest that a price may be. */
  decimal(name: string): string | null {
    const text = this.text(name);
    if (text === null || /^-?\d{1,14}(\.\d+)?$/.test(text)) return text;
    if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) throw refuseParameter(name, text, 'a number');
    const value = Number(text);
    if (Math.abs(value) >= 1e14) return value < 0 ? `-${PRICE_MAX}` : PRICE_MAX;
    return value.toFixed(4);
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
    if (!DATE_TIME.test(text) || Number.isNaN(Date.parse(text.replace(/(\.\d{3})\d+/, '$1')))) {
      throw refuseParameter(name, text, 'an ISO 8601 date-time in UTC, such as 2026-11-20T06:00:00Z');
    }
    return text;
  }

  currency(name: string): string | null {
    const text = this.text(name);
    if (text !== null && !/^[A-Za-z]{3}$/.test(text)) throw refuseParameter(name, text, 'an ISO 4217 code');
    return text?.toUpperCase() ?? null;
  }

  /** A GTIN without its leading zeros, which may be left out. */
  gtin(name: string): string | null {
    const text = this.text(name);
    if (text !== null && !/^\d{1,14}$/.test(text)) throw refuseParameter(name, text, 'up to 14 digits');
    return text?.replace(/^0+/, '') ?? null;
  }
}
