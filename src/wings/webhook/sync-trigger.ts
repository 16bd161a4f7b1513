import type { Io } from '../../io/io.js';

export interface RunEnd {
  /** `done`: the run published or found no changes. `later`: another run has locked the lake, or a retry may help. */
  outcome: 'done' | 'later' | 'failed';
  /** The earliest time at which the service allows another run. */
  nextRunAt?: Date | undefined;
}

const MINUTE_MS = 60_000;
const MAX_WAIT_MS = 30 * MINUTE_MS;

/**
 * Returns the milliseconds to wait before the next run. This is `delayMs` or, after failures, 1, 2, 4, … up to 30
 * minutes, and at least the time until `nextRunAt`.
 * @param failures the number of failed runs since the last success
 */
function planWait(delayMs: number, failures: number, nextRunAt: Date | undefined, now: Date): number {
  if (failures === 0) return delayMs;
  const backoff = Math.min(MINUTE_MS * 2 ** (failures - 1), MAX_WAIT_MS);
  return Math.max(delayMs, backoff, (nextRunAt?.getTime() ?? 0) - now.getTime());
}

/**
 * Starts one run for all events that arrive within `delayMs`. Never starts a run while another one is running. A run
 * that ended with `later` is repeated. After `failed`, waits for the next event. Failures don't affect the receiver.
 */
export class SyncTrigger {
  readonly #startRun: (signal: AbortSignal) => Promise<RunEnd>;
  readonly #delayMs: number;
  readonly #io: Io;
  readonly #stop = new AbortController();
  #isWanted = false;
  #wake = () => {};
  #running: Promise<void>;

  /** @param startRun starts a run that must end soon after its signal is aborted */
  constructor(startRun: (signal: AbortSignal) => Promise<RunEnd>, delayMs: number, io: Io) {
    this.#startRun = startRun;
    this.#delayMs = delayMs;
    this.#io = io;
    this.#running = this.#loop();
  }

  /** Requests a run. Call this when an event has been saved. */
  want(): void {
    this.#isWanted = true;
    this.#wake();
  }

  /** Stops the current run and waits for it to end. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await this.#running;
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stop;
    let failures = 0;
    let nextRunAt: Date | undefined;
    while (!signal.aborted) {
      if (!this.#isWanted) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      const waitMs = planWait(this.#delayMs, failures, nextRunAt, this.#io.now());
      await this.#io.sleep(waitMs, signal).catch(() => {}); // the signal has ended the sleep
      if (signal.aborted) return;
      this.#isWanted = false;
      const end = await this.#run(signal);
      failures = end.outcome === 'done' ? 0 : failures + 1;
      nextRunAt = end.nextRunAt;
      if (end.outcome === 'later') this.#isWanted = true;
    }
  }

  async #run(signal: AbortSignal): Promise<RunEnd> {
    try {
      return await this.#startRun(signal);
    } catch (error) {
      this.#io.log('error', 'webhook.sync_failed', { reason: error instanceof Error ? error.message : String(error) });
      return { outcome: 'failed' };
    }
  }
}
