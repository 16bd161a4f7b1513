import type { Io } from '../io/io.js';

const FIRST_MS = Date.UTC(2000, 0, 1);
const LAST_MS = Date.UTC(2100, 0, 1);
/** The number of recent responses from which the time is estimated. */
const KEPT_OFFSETS = 25;

export type ServiceClock = ReturnType<typeof createServiceClock>;

/**
 * Estimates the service's time from the `Date` headers of its responses. Uses the median difference between the newest
 * headers and this machine's clock, so that cached or wrong dates have little effect.
 */
export function createServiceClock(io: Pick<Io, 'now'>) {
  const offsets: number[] = [];
  return {
    /** Records a `Date` header. Call it as soon as a response arrives. */
    note(header: string | undefined): void {
      const date = readHttpDate(header?.trim() ?? '');
      if (!(date >= FIRST_MS && date < LAST_MS)) return;
      offsets.push(date - io.now().getTime());
      if (offsets.length > KEPT_OFFSETS) offsets.shift();
    },
    /** Returns the service's time; undefined without a valid header. It may be too early by the network's delay. */
    now(): Date | undefined {
      const median = offsets.toSorted((a, b) => a - b)[Math.floor((offsets.length - 1) / 2)];
      return median === undefined ? undefined : new Date(io.now().getTime() + median);
    },
  };
}

/** Parses an HTTP date into ms since 1970; NaN if it is invalid. Also accepts an offset instead of GMT (RFC 5322). */
function readHttpDate(text: string): number {
  // Checks the format first, because Date.parse accepts strings that aren't HTTP dates, such as "1" for the year 2001.
  const zone = /^[a-z]{3,9},? .*\d{2}:\d{2}:\d{2} (GMT|UTC|[+-]?\d{4})$/i.exec(text)?.[1];
  if (zone === undefined) return Number.NaN;
  // A date in asctime format ends with the year and has no zone. Such a date is in UTC, so this adds GMT.
  return Date.parse(/^\d/.test(zone) ? `${text} GMT` : text);
}

/** A Retry-After header with a longer time than this, in milliseconds, is considered invalid. */
const LONGEST_MS = 366 * 24 * 3600 * 1000;

/**
 * Parses `Retry-After` (API §7), which contains seconds or an HTTP date, into milliseconds from `now`. Returns 0 for a
 * past date, and undefined if the header is missing, invalid, or more than a year away.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  const isSeconds = /^\d+(?:\.\d+)?$/.test(text);
  const ms = isSeconds ? Math.ceil(Number(text) * 1000) : readHttpDate(text) - now.getTime();
  return Number.isNaN(ms) || ms > LONGEST_MS ? undefined : Math.max(0, ms);
}
