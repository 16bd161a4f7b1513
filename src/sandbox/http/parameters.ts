import { refuseParameter } from './answers.js';

const INT32_MAX = 2 ** 31 - 1;
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,9})?$/;
/** A number above all prices, which are DECIMAL(18,4). */
const BEYOND_PRICES = 1e19;
const DATE_TIME = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Reads the query parameters of a request. Errors name the invalid parameter (API §4). */
export class Parameters {
  readonly #query: URLSearchParams;

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  /** Returns the text of a parameter, or null if it is missing or empty. */
  text(name: string): string | null {
    return this.#query.get(name) || null;
  }

  /** Parses a parameter, or returns null if it is missing. @param parse returns undefined for an invalid value */
  #parse<T>(name: string, allowed: string, parse: (text: string) => T | undefined): T | null {
    const text = this.text(name);
    if (text === null) return null;
    const value = parse(text);
    if (value === undefined) throw refuseParameter(name, text, allowed);
    return value;
  }

  int64(name: string): bigint | null {
    return this.#parse(name, 'an integer (int64)', (text) => {
      const value = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
      return value !== undefined && BigInt.asIntN(64, value) === value ? value : undefined;
    });
  }

  int32(name: string, { min, max, byDefault }: { min: number; max?: number; byDefault: number }): number {
    const allowed = max === undefined ? `an integer from ${min}` : `${min} to ${max}`;
    const value = this.#parse(name, allowed, (text) => {
      const number = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
      return number >= min && number <= (max ?? INT32_MAX) ? number : undefined;
    });
    return value ?? byDefault;
  }

  /** Reads a price limit as the text of a DECIMAL(38,18), so that prices are compared exactly. */
  price(name: string): string | null {
    return this.#parse(name, 'a number', (text) => {
      if (!NUMBER.test(text)) return undefined;
      const value = Number(text);
      if (Math.abs(value) >= BEYOND_PRICES) return String(Math.sign(value) * BEYOND_PRICES);
      return Math.abs(value) < 1e-17 ? '0' : text;
    });
  }

  choice<T extends string>(name: string, allowed: readonly T[]): T | null {
    return this.#parse(name, allowed.join(', '), (text) => allowed.find((value) => value === text));
  }

  dateTime(name: string): string | null {
    return this.#parse(name, 'an ISO 8601 date-time in UTC, such as 2026-11-20T06:00:00Z', (text) => {
      const [, day] = DATE_TIME.exec(text) ?? [];
      const isTime = day !== undefined && isDay(day) && !Number.isNaN(Date.parse(text.replace(/(\.\d{3})\d+/, '$1')));
      return isTime ? text : undefined;
    });
  }

  currency(name: string): string | null {
    return this.#parse(name, 'an ISO 4217 code', (text) =>
      /^[A-Za-z]{3}$/.test(text) ? text.toUpperCase() : undefined,
    );
  }

  /** Reads a GTIN without its leading zeros. */
  gtin(name: string): string | null {
    return this.#parse(name, 'up to 14 digits', (text) =>
      /^\d{1,14}$/.test(text) ? text.replace(/^0+/, '') : undefined,
    );
  }
}

/** True for a day that exists; Date.parse would accept February 30 as March 2. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
