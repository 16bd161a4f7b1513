import type { Io } from '../io.js';

/** Calls per second until the plan is known: only `/plan` itself is due by then. */
export const CAREFUL_RATE = 2;

export interface RateBucket {
  /** Waits for a token, first come, first served. Rejects with the signal's reason when it is aborted. */
  take(signal?: AbortSignal): Promise<void>;
  /** `ratePerSecond` of the plan (API document, section 8); null is unlimited. */
  setRate(ratePerSecond: number | null): void;
  /** Nobody gets a token for `ms` milliseconds: the service said when to try again. */
  pause(ms: number): void;
}

/**
 * A bucket that holds one token: calls are paced, never in bursts, because the document does not say
 * how the service cuts time into seconds, and paced calls fit any cut.
 */
export function createRateBucket(io: Io): RateBucket {
  let intervalMs = 1000 / CAREFUL_RATE;
  let lastAt = Number.NEGATIVE_INFINITY;
  let pause = { at: 0, ms: 0 };
  let queue: Promise<void> = Promise.resolve();

  async function waitTurn(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const now = io.now().getTime();
    // Capped, so that a clock set back costs one interval and not the hour it lost.
    const pacing = Math.min(lastAt + intervalMs - now, intervalMs);
    const paused = Math.min(pause.at + pause.ms - now, pause.ms);
    const waitMs = Math.max(0, pacing, paused);
    lastAt = now + waitMs;
    if (waitMs > 0) await io.sleep(waitMs, signal);
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
      if (at + ms > pause.at + pause.ms) pause = { at, ms };
    },
  };
}
