/** A change appears in the feed this long after it happened (section 4, /changes, rule 3). */
export const FEED_DELAY_MS = 30_000;

export type ClockMode = 'frozen' | 'real';

/** The sandbox's own time: stands still between advances, or runs on in wall time. */
export class SimulatedClock {
  readonly mode: ClockMode;
  #base: number;
  #wall: number;

  constructor(startAt: Date, mode: ClockMode) {
    this.mode = mode;
    this.#base = startAt.getTime();
    this.#wall = performance.now();
  }

  /** Now in milliseconds since 1970, UTC. */
  now(): number {
    return this.mode === 'frozen' ? this.#base : this.#base + Math.floor(performance.now() - this.#wall);
  }

  iso(): string {
    return new Date(this.now()).toISOString();
  }

  /** Sets the clock; a running one runs on from there. */
  moveTo(ms: number): void {
    this.#base = ms;
    this.#wall = performance.now();
  }

  /** The first of next month, 00:00 UTC, when the month's counters start over. */
  monthEnd(): Date {
    const now = new Date(this.now());
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
  }
}
