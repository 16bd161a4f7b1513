const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits after the first, second, … failed attempt; afterwards the last one again and again (section 6). */
const RETRY_WAITS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS, 2 * HOUR_MS, 4 * HOUR_MS];
const TURN_OFF_MS = 24 * HOUR_MS;

/** What follows a failed attempt, and when (milliseconds). */
export interface NextStep {
  step: 'retry' | 'turn off';
  at: number;
}

/**
 * Delivery rules 3 and 5 of section 6.
 * @param attempt number of the attempt that failed, from 1
 * @param failedAt when it failed
 * @param failingSince when the first attempt that failed began: 24 hours later the endpoint is turned off
 */
export function planNextStep(attempt: number, failedAt: number, failingSince: number): NextStep {
  const wait = RETRY_WAITS[Math.min(attempt, RETRY_WAITS.length) - 1] ?? MINUTE_MS;
  const offAt = failingSince + TURN_OFF_MS;
  return failedAt + wait < offAt ? { step: 'retry', at: failedAt + wait } : { step: 'turn off', at: offAt };
}

/** Whether the endpoint is to be turned off by now: no attempt comes from then on. */
export function hasFailedTooLong(now: number, failingSince: number): boolean {
  return now >= failingSince + TURN_OFF_MS;
}
