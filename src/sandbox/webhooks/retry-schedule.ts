import { setTimeout as sleep } from 'node:timers/promises';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Waits after the first, second, … failed attempt; the last one repeats (section 6, delivery rule 3). */
const RETRY_WAITS = [1, 5, 15, 30, 60, 120, 240].map((minutes) => minutes * MINUTE_MS);

/**
 * When the next attempt is due; never after the endpoint is to be turned off. All times in milliseconds.
 * @param attempt number of the attempt that failed, from 1
 * @param failingSince when the first attempt that failed began
 */
export function planNextAttempt(attempt: number, failedAt: number, failingSince: number): number {
  const wait = RETRY_WAITS[Math.min(attempt, RETRY_WAITS.length) - 1] ?? MINUTE_MS;
  return Math.min(failedAt + wait, failingSince + DAY_MS);
}

/** Delivery rule 5: no attempt follows from then on. */
export function hasFailedTooLong(now: number, failingSince: number): boolean {
  return now >= failingSince + DAY_MS;
}

/** The time by which deliveries are tried again. */
export interface DeliveryTime {
  /** 60 passes sixty times as fast as wall time. */
  readonly scale: number;
  /** Milliseconds since some start. */
  now(): number;
  /** Returns early, without an error, when the signal is aborted. */
  sleepUntil(at: number, signal: AbortSignal): Promise<void>;
}

/** Time that passes faster than on the wall: a day of retries fits into a test. */
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
