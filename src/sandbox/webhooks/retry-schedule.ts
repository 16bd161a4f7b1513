import { setTimeout as sleep } from 'node:timers/promises';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The times, in milliseconds, to wait after failed attempts. The last value repeats (API §6, delivery rule 3). */
const RETRY_WAITS = [1, 5, 15, 30, 60, 120, 240].map((minutes) => minutes * MINUTE_MS);

/**
 * Returns when the next attempt is due, which is no later than when the endpoint is turned off. All times are in
 * milliseconds.
 * @param attempt number of the failed attempt, from 1
 * @param failingSince when the first failed attempt started
 */
export function planNextAttempt(attempt: number, failedAt: number, failingSince: number): number {
  const wait = RETRY_WAITS[Math.min(attempt, RETRY_WAITS.length) - 1] ?? MINUTE_MS;
  return Math.min(failedAt + wait, failingSince + DAY_MS);
}

/** True if a delivery has failed for a day, so the endpoint is turned off (API §6, delivery rule 5). */
export function hasFailedTooLong(now: number, failingSince: number): boolean {
  return now >= failingSince + DAY_MS;
}

/** The clock that schedules delivery attempts. */
export interface DeliveryTime {
  /** The speed relative to real time; 60 means 60 times as fast. */
  readonly scale: number;
  /** Returns the time in milliseconds since an arbitrary moment. */
  now(): number;
  /** Sleeps until `at`. If the signal is aborted, returns early without an error. */
  sleepUntil(at: number, signal: AbortSignal): Promise<void>;
}

/** A clock that runs faster than real time, so that a day of retries fits into a test. */
export class ScaledTime implements DeliveryTime {
  readonly scale: number;
  readonly #start = performance.now();

  constructor(scale: number) {
    this.scale = scale;
  }

  now(): number {
    return (performance.now() - this.#start) * this.scale;
  }

  async sleepUntil(at: number, signal: AbortSignal): Promise<void> {
    const ms = Math.max(0, (at - this.now()) / this.scale);
    await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
  }
}
