import { readHttpDate } from './http-date.js';

/** Nobody asks a client to come back in more than a year: such a value says nothing. */
const LONGEST_MS = 366 * 24 * 3600 * 1000;

/**
 * The `Retry-After` header in milliseconds from `now` (API document, section 7: "says when to try
 * again"): seconds or an HTTP date. Undefined when it is absent, neither, or beyond a year; a date gone by is 0.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  const isSeconds = /^\d+(?:\.\d+)?$/.test(text);
  const ms = isSeconds ? Math.ceil(Number(text) * 1000) : readHttpDate(text) - now.getTime();
  return Number.isNaN(ms) || ms > LONGEST_MS ? undefined : Math.max(0, ms);
}
