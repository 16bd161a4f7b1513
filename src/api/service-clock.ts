import type { Io } from '../io/io.js';

const FIRST_MS = Date.UTC(2000, 0, 1);
const LAST_MS = Date.UTC(2100, 0, 1);
/** The number of newest answers that are used. */
const KEPT_OFFSETS = 25;

export type ServiceClock = ReturnType<typeof createServiceClock>;

/**
 * The service's clock, by the `Date` headers of its answers. It uses the median of the newest offsets, which neither a
 * cached date nor a single wrong one can move.
 */
export function createServiceClock(io: Pick<Io, 'now'>) {
  const offsets: number[] = [];
  return {
    /** Call it as soon as an answer arrives. */
    note(header: string | undefined): void {
      const date = readHttpDate(header?.trim() ?? '');
      if (!(date >= FIRST_MS && date < LAST_MS)) return;
      offsets.push(date - io.now().getTime());
      if (offsets.length > KEPT_OFFSETS) offsets.shift();
    },
    /** The service's time, late by at most the time between the machines; undefined without a valid header. */
    now(): Date | undefined {
      const median = offsets.toSorted((a, b) => a - b)[Math.floor((offsets.length - 1) / 2)];
      return median === undefined ? undefined : new Date(io.now().getTime() + median);
    },
  };
}

/**
 * Parses an HTTP date as milliseconds since 1970; NaN for any other text. Accepts an offset in place of GMT (RFC 5322).
 */
function readHttpDate(text: string): number {
  // Date.parse accepts far more than HTTP dates: a bare "1" is the year 2001.
  const zone = /^[a-z]{3,9},? .*\d{2}:\d{2}:\d{2} (GMT|UTC|[+-]?\d{4})$/i.exec(text)?.[1];
  if (zone === undefined) return Number.NaN;
  // The asctime form ends with the year. It has no zone and means UTC.
  return Date.parse(/^\d/.test(zone) ? `${text} GMT` : text);
}

/** A wait of more than a year is taken for an error. */
const LONGEST_MS = 366 * 24 * 3600 * 1000;

/**
 * Parses `Retry-After` (section 7), seconds or an HTTP date, as milliseconds from `now`. Undefined if it is missing,
 * invalid, or beyond a year; 0 for a past date.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  const isSeconds = /^\d+(?:\.\d+)?$/.test(text);
  const ms = isSeconds ? Math.ceil(Number(text) * 1000) : readHttpDate(text) - now.getTime();
  return Number.isNaN(ms) || ms > LONGEST_MS ? undefined : Math.max(0, ms);
}
