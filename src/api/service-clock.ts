import type { Io } from '../io/io.js';
import { readHttpDate } from './http-date.js';

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
