import type { Io } from '../io/io.js';

/** The number of requests per second before the plan's rate is known. A run first requests only `/plan`. */
const CAREFUL_RATE = 2;

export type RateBucket = ReturnType<typeof createRateBucket>;

/**
 * Creates a token bucket with a single token, so that calls are evenly spaced, without bursts. The API document doesn't
 * define when a second starts. Evenly spaced calls stay within the rate in any second.
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
      // Waits for at most one interval, even if the clock was set back.
      const pacing = seen === undefined ? Math.min(lastAt + intervalMs - now, intervalMs) : 0;
      seen = pause;
      const waitMs = Math.max(0, pacing, countRest(pause, now));
      lastAt = now + waitMs;
      if (waitMs > 0) await io.sleep(waitMs, signal);
      // Waits again if another call requested a new pause during this sleep.
    } while (seen !== pause);
    refuseWhileClosed();
  }

  function refuseWhileClosed(): void {
    if (closed !== undefined && countRest(closed, io.now().getTime()) > 0) throw closed.error;
  }

  return {
    /** Waits for a token. Callers are served in order. Rejects with the signal's reason if the signal aborts. */
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
    /** Delays all calls, including queued ones, for `ms` milliseconds. Doesn't shorten a longer pause. */
    pause(ms: number): void {
      const at = io.now().getTime();
      if (ms > countRest(pause, at)) pause = { at, ms };
    },
    /** Rejects queued and new calls with `error` for `ms` milliseconds. */
    close(ms: number, error: Error): void {
      closed = { at: io.now().getTime(), ms, error };
    },
  };
}

/** Returns the remaining milliseconds of a pause, at most `ms`, even if the clock was set back. */
function countRest({ at, ms }: { at: number; ms: number }, now: number): number {
  return Math.min(at + ms - now, ms);
}
