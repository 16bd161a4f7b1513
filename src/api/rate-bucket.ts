import type { Io } from '../io/io.js';

/** Requests per second until the plan is known. Only `/plan` is called before then. */
const CAREFUL_RATE = 2;

export type RateBucket = ReturnType<typeof createRateBucket>;

/**
 * Creates a token bucket with a single token, so calls are evenly spaced and never come in bursts. The API document
 * doesn't define how the service measures a second, and evenly spaced calls satisfy any definition.
 */
export function createRateBucket(io: Io) {
  let intervalMs = 1000 / CAREFUL_RATE;
  let lastAt = Number.NEGATIVE_INFINITY;
  let pause = { at: 0, ms: 0 };
  let closed: { at: number; ms: number; error: Error } | undefined;
  let queue: Promise<void> = Promise.resolve();

  async function waitTurn(signal?: AbortSignal): Promise<void> {
    let seen: typeof pause | undefined;
    do {
      signal?.throwIfAborted();
      refuseWhileClosed();
      const now = io.now().getTime();
      // The wait is capped, so if the clock is set back, the call waits for one interval at most.
      const pacing = seen === undefined ? Math.min(lastAt + intervalMs - now, intervalMs) : 0;
      seen = pause;
      const waitMs = Math.max(0, pacing, countRest(pause, now));
      lastAt = now + waitMs;
      if (waitMs > 0) await io.sleep(waitMs, signal);
      // Another call may have requested a new pause during the sleep.
    } while (seen !== pause);
    refuseWhileClosed();
  }

  function refuseWhileClosed(): void {
    if (closed !== undefined && countRest(closed, io.now().getTime()) > 0) throw closed.error;
  }

  return {
    /** Acquires the token, first come, first served. Rejects with the signal's reason when it is aborted. */
    take(signal?: AbortSignal): Promise<void> {
      const turn = queue.then(() => waitTurn(signal));
      queue = turn.catch(() => {});
      return turn;
    },
    /** Sets the rate to the plan's `ratePerSecond` (API §8); null means unlimited. */
    setRate(ratePerSecond: number | null): void {
      const rate = ratePerSecond !== null && !(ratePerSecond > 0) ? CAREFUL_RATE : ratePerSecond;
      intervalMs = rate === null ? 0 : 1000 / rate;
    },
    /** Blocks all calls, including queued ones, for `ms` milliseconds. A shorter pause doesn't replace a longer one. */
    pause(ms: number): void {
      const at = io.now().getTime();
      if (ms > countRest(pause, at)) pause = { at, ms };
    },
    /** For `ms` milliseconds, rejects queued and new calls with `error`. */
    close(ms: number, error: Error): void {
      closed = { at: io.now().getTime(), ms, error };
    },
  };
}

/** Returns the remaining milliseconds of a pause. The result never exceeds `ms`, even if the clock was set back. */
function countRest({ at, ms }: { at: number; ms: number }, now: number): number {
  return Math.min(at + ms - now, ms);
}
