import type { Io } from '../io/io.js';

/** Dates outside these years are no clock's. */
const FIRST_MS = Date.UTC(2000, 0, 1);
const LAST_MS = Date.UTC(2100, 0, 1);
/** Answers whose dates count: the newest ones. */
const KEPT_OFFSETS = 25;

/** The service's clock, by the `Date` headers of its answers. */
export interface ServiceClock {
  /** Takes in the `Date` header of an answer that came just now. */
  note(header: string | undefined): void;
  /** Now by the service's clock, never ahead of it by more than the machines between; undefined without a valid header. */
  now(): Date | undefined;
}

/**
 * Keeps how far the service's clock is from this machine's. Of the newest answers the median holds: neither an old date
 * from a cache nor a single wrong one moves it.
 */
export function createServiceClock(io: Pick<Io, 'now'>): ServiceClock {
  const offsets: number[] = [];
  return {
    note(header) {
      const date = readHttpDate(header?.trim() ?? '');
      if (!(date >= FIRST_MS && date < LAST_MS)) return;
      offsets.push(date - io.now().getTime());
      if (offsets.length > KEPT_OFFSETS) offsets.shift();
    },
    now() {
      const median = offsets.toSorted((a, b) => a - b)[Math.floor((offsets.length - 1) / 2)];
      return median === undefined ? undefined : new Date(io.now().getTime() + median);
    },
  };
}

/** Milliseconds since 1970; NaN for what is no HTTP date. An offset in place of GMT (RFC 5322) is taken as it is. */
export function readHttpDate(text: string): number {
  // Date.parse takes far more than HTTP dates: a bare "1" is the year 2001.
  const zone = /^[a-z]{3,9},? .*\d{2}:\d{2}:\d{2} (GMT|UTC|[+-]?\d{4})$/i.exec(text)?.[1];
  if (zone === undefined) return Number.NaN;
  // The asctime form ends with the year: it names no zone and means UTC.
  return Date.parse(/^\d/.test(zone) ? `${text} GMT` : text);
}

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
