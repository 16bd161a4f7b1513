import type { Io } from '../io/io.js';

/** No clock shows dates outside these years. */
const FIRST_MS = Date.UTC(2000, 0, 1);
const LAST_MS = Date.UTC(2100, 0, 1);
/** Only the newest answers count. */
const KEPT_OFFSETS = 25;

export type ServiceClock = ReturnType<typeof createServiceClock>;

/**
 * The service's clock, by the `Date` headers of its answers. The median of the newest offsets holds: neither a cached
 * date nor a single wrong one moves it.
 */
export function createServiceClock(io: Pick<Io, 'now'>) {
  const offsets: number[] = [];
  return {
    /** Call it as soon as the answer comes. */
    note(header: string | undefined): void {
      const date = readHttpDate(header?.trim() ?? '');
      if (!(date >= FIRST_MS && date < LAST_MS)) return;
      offsets.push(date - io.now().getTime());
      if (offsets.length > KEPT_OFFSETS) offsets.shift();
    },
    /** Behind the service's clock by the time between the machines at most; undefined without a valid header. */
    now(): Date | undefined {
      const median = offsets.toSorted((a, b) => a - b)[Math.floor((offsets.length - 1) / 2)];
      return median === undefined ? undefined : new Date(io.now().getTime() + median);
    },
  };
}

/** Milliseconds since 1970; NaN for anything but an HTTP date. Takes an offset in place of GMT (RFC 5322). */
function readHttpDate(text: string): number {
  // Date.parse takes far more than HTTP dates: a bare "1" is the year 2001.
  const zone = /^[a-z]{3,9},? .*\d{2}:\d{2}:\d{2} (GMT|UTC|[+-]?\d{4})$/i.exec(text)?.[1];
  if (zone === undefined) return Number.NaN;
  // The asctime form ends with the year. It names no zone and means UTC.
  return Date.parse(/^\d/.test(zone) ? `${text} GMT` : text);
}

/** Nobody asks a client to come back in more than a year: such a value is an error. */
const LONGEST_MS = 366 * 24 * 3600 * 1000;

/**
 * The `Retry-After` header (API document, section 7), seconds or an HTTP date, as milliseconds from `now`. Undefined if
 * it is absent, neither, or beyond a year; 0 for a past date.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  const isSeconds = /^\d+(?:\.\d+)?$/.test(text);
  const ms = isSeconds ? Math.ceil(Number(text) * 1000) : readHttpDate(text) - now.getTime();
  return Number.isNaN(ms) || ms > LONGEST_MS ? undefined : Math.max(0, ms);
}
