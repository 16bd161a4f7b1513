import type { Io } from '../io/io.js';

/** The rate until the plan is known. Only `/plan` is called before. */
const CAREFUL_RATE = 2;

export type RateBucket = ReturnType<typeof createRateBucket>;

/**
 * A token bucket with a single token, so calls are paced and never come in bursts. The document does not define the
 * seconds of the limit, and paced calls fit any definition.
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
      // The wait is capped, so that a clock that was set back costs one interval and not the time by which it was set
      // back.
      const pacing = seen === undefined ? Math.min(lastAt + intervalMs - now, intervalMs) : 0;
      seen = pause;
      const waitMs = Math.max(0, pacing, countRest(pause, now));
      lastAt = now + waitMs;
      if (waitMs > 0) await io.sleep(waitMs, signal);
      // The service may have asked for another pause during the sleep.
    } while (seen !== pause);
    refuseWhileClosed();
  }

  function refuseWhileClosed(): void {
    if (closed !== undefined && countRest(closed, io.now().getTime()) > 0) throw closed.error;
  }

  return {
    /** Takes a token, first come, first served. Rejects with the signal's reason when it is aborted. */
    take(signal?: AbortSignal): Promise<void> {
      const turn = queue.then(() => waitTurn(signal));
      queue = turn.catch(() => {});
      return turn;
    },
    /** Sets `ratePerSecond` of the plan (section 8); null is unlimited. */
    setRate(ratePerSecond: number | null): void {
      const rate = ratePerSecond !== null && !(ratePerSecond > 0) ? CAREFUL_RATE : ratePerSecond;
      intervalMs = rate === null ? 0 : 1000 / rate;
    },
    /** Hands out no token for `ms` milliseconds, even to waiting calls. A shorter pause never ends a longer one. */
    pause(ms: number): void {
      const at = io.now().getTime();
      if (ms > countRest(pause, at)) pause = { at, ms };
    },
    /** For `ms` milliseconds, rejects all waiting and new requests for a token with `error`. */
    close(ms: number, error: Error): void {
      closed = { at: io.now().getTime(), ms, error };
    },
  };
}

/** The rest of a span, at most the whole span. */
function countRest({ at, ms }: { at: number; ms: number }, now: number): number {
  return Math.min(at + ms - now, ms);
}
