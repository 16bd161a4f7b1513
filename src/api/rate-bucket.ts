import type { Io } from '../io/io.js';

/** Calls per second until the plan is known: until then only `/plan` is called. */
const CAREFUL_RATE = 2;

export type RateBucket = ReturnType<typeof createRateBucket>;

/**
 * Holds one token, so calls are paced and never come in bursts: the document does not say how the service cuts time
 * into seconds, and paced calls fit any cut.
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
      // Capped: a clock set back costs one interval, not the hour that it lost.
      const pacing = seen === undefined ? Math.min(lastAt + intervalMs - now, intervalMs) : 0;
      seen = pause;
      const waitMs = Math.max(0, pacing, countRest(pause, now));
      lastAt = now + waitMs;
      if (waitMs > 0) await io.sleep(waitMs, signal);
      // During the sleep, the service may have asked for another pause.
    } while (seen !== pause);
    refuseWhileClosed();
  }

  function refuseWhileClosed(): void {
    if (closed !== undefined && countRest(closed, io.now().getTime()) > 0) throw closed.error;
  }

  return {
    /** First come, first served. Rejects with the signal's reason when it is aborted. */
    take(signal?: AbortSignal): Promise<void> {
      const turn = queue.then(() => waitTurn(signal));
      queue = turn.catch(() => {});
      return turn;
    },
    /** `ratePerSecond` of the plan (API document, section 8); null is unlimited. */
    setRate(ratePerSecond: number | null): void {
      const rate = ratePerSecond !== null && !(ratePerSecond > 0) ? CAREFUL_RATE : ratePerSecond;
      intervalMs = rate === null ? 0 : 1000 / rate;
    },
    /** Nobody gets a token for `ms` milliseconds, even one who already waits. A shorter pause never ends a longer one. */
    pause(ms: number): void {
      const at = io.now().getTime();
      if (ms > countRest(pause, at)) pause = { at, ms };
    },
    /** For `ms` milliseconds, everybody who asks or waits for a token gets `error`. */
    close(ms: number, error: Error): void {
      closed = { at: io.now().getTime(), ms, error };
    },
  };
}

/** Never more than the whole span. */
function countRest({ at, ms }: { at: number; ms: number }, now: number): number {
  return Math.min(at + ms - now, ms);
}
