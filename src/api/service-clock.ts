import type { Io } from '../io/io.js';

const FIRST_MS = Date.UTC(2000, 0, 1);
const LAST_MS = Date.UTC(2100, 0, 1);
/** The number of recent responses that the clock uses. */
const KEPT_OFFSETS = 25;

export type ServiceClock = ReturnType<typeof createServiceClock>;

/**
 * Estimates the service's clock from the `Date` headers of its responses. Uses the median of the newest offsets, so
 * cached or wrong dates have little effect.
 */
export function createServiceClock(io: Pick<Io, 'now'>) {
  const offsets: number[] = [];
  return {
    /** Records a `Date` header. Call it as soon as the response arrives. */
    note(header: string | undefined): void {
      const date = readHttpDate(header?.trim() ?? '');
      if (!(date >= FIRST_MS && date < LAST_MS)) return;
      offsets.push(date - io.now().getTime());
      if (offsets.length > KEPT_OFFSETS) offsets.shift();
    },
    /** Returns the service's time, which may be late by the network delay; undefined if there was no valid header. */
    now(): Date | undefined {
      const median = offsets.toSorted((a, b) => a - b)[Math.floor((offsets.length - 1) / 2)];
      return median === undefined ? undefined : new Date(io.now().getTime() + median);
    },
  };
}

/**
 * Parses an HTTP date to milliseconds since 1970; NaN if it is invalid. Accepts an offset in place of GMT (RFC 5322).
 */
function readHttpDate(text: string): number {
  // Date.parse accepts much more than HTTP dates: it reads "1" as the year 2001.
  const zone = /^[a-z]{3,9},? .*\d{2}:\d{2}:\d{2} (GMT|UTC|[+-]?\d{4})$/i.exec(text)?.[1];
  if (zone === undefined) return Number.NaN;
  // The asctime format ends with the year. It has no zone and means UTC.
  return Date.parse(/^\d/.test(zone) ? `${text} GMT` : text);
}

/** A longer wait is treated as an error. */
const LONGEST_MS = 366 * 24 * 3600 * 1000;

/**
 * Parses `Retry-After` (API §7), seconds or an HTTP date, to milliseconds from `now`. Returns 0 for a past date, and
 * undefined if the header is missing, invalid, or more than a year away.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  const isSeconds = /^\d+(?:\.\d+)?$/.test(text);
  const ms = isSeconds ? Math.ceil(Number(text) * 1000) : readHttpDate(text) - now.getTime();
  return Number.isNaN(ms) || ms > LONGEST_MS ? undefined : Math.max(0, ms);
}
