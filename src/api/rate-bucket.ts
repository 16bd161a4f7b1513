import type { Io } from '../io/io.js';

/** Calls per second until the plan is known: only `/plan` itself is called by then. */
const CAREFUL_RATE = 2;

export interface RateBucket {
  /** Waits for a token, first come, first served. Rejects with the signal's reason when it is aborted. */
  take(signal?: AbortSignal): Promise<void>;
  /** `ratePerSecond` of the plan (API document, section 8); null is unlimited. */
  setRate(ratePerSecond: number | null): void;
  /**
   * Nobody gets a token for `ms` milliseconds, also who waits for one already: the service said when to try again. A
   * shorter pause never ends a longer one.
   */
  pause(ms: number): void;
  /** Whoever asks for a token within `ms` milliseconds, or waits for one, gets `error` instead. */
  close(ms: number, error: Error): void;
}

/**
 * A bucket that holds one token: calls are paced, never in bursts, because the document does not say
 * how the service cuts time into seconds, and paced calls fit any cut.
 */
export function createRateBucket(io: Io): RateBucket {
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
      // Capped, so that a clock set back costs one interval and not the hour it lost.
      const pacing = seen === undefined ? Math.min(lastAt + intervalMs - now, intervalMs) : 0;
      seen = pause;
      const waitMs = Math.max(0, pacing, countRest(pause, now));
      lastAt = now + waitMs;
      if (waitMs > 0) await io.sleep(waitMs, signal);
      // While this one slept, the service may have asked for another pause.
    } while (seen !== pause);
    refuseWhileClosed();
  }

  function refuseWhileClosed(): void {
    if (closed !== undefined && countRest(closed, io.now().getTime()) > 0) throw closed.error;
  }

  return {
    take(signal) {
      const turn = queue.then(() => waitTurn(signal));
      queue = turn.catch(() => {});
      return turn;
    },
    setRate(ratePerSecond) {
      const rate = ratePerSecond !== null && !(ratePerSecond > 0) ? CAREFUL_RATE : ratePerSecond;
      intervalMs = rate === null ? 0 : 1000 / rate;
    },
    pause(ms) {
      const at = io.now().getTime();
      if (ms > countRest(pause, at)) pause = { at, ms };
    },
    close(ms, error) {
      closed = { at: io.now().getTime(), ms, error };
    },
  };
}

/** Milliseconds that are left of a span, never more than all of it. */
function countRest({ at, ms }: { at: number; ms: number }, now: number): number {
  return Math.min(at + ms - now, ms);
}
