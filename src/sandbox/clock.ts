import { PricelakeError } from '../io/errors.js';

/** The delay, in milliseconds, until the feed shows a change (API §4, /changes, rule 3). */
export const FEED_DELAY_MS = 30_000;

/**
 * The pace of the clock. A `frozen` clock moves only when it is advanced. A `60x` clock runs 60 times as fast as real
 * time.
 */
export type ClockMode = 'frozen' | 'real' | `${number}x`;

const MAX_SPEED = 100_000;

/** Parses the value of `--clock`. @throws PricelakeError `usage` if it isn't valid */
export function parseClockMode(text: string): ClockMode {
  const isNamed = text === 'frozen' || text === 'real';
  if (isNamed) return text;
  const speed = /^\d+(\.\d+)?x$/.test(text) ? Number.parseFloat(text) : 0;
  if (speed > 0 && speed <= MAX_SPEED) return text as ClockMode;
  throw new PricelakeError(
    'usage',
    `the clock "${text}" must be frozen, real, or a speed such as 60x, up to ${MAX_SPEED}x`,
  );
}

/** Returns the speed relative to real time; 0 for a frozen clock. */
export function speedOf(mode: ClockMode): number {
  if (mode === 'frozen') return 0;
  return mode === 'real' ? 1 : Number.parseFloat(mode);
}

export class SimulatedClock {
  readonly mode: ClockMode;
  readonly #speed: number;
  readonly #wall: () => number;
  #base: number;
  #isHeld = false;
  #movedAt: number;

  /** @param wall returns real time in milliseconds since an arbitrary moment */
  constructor(startAt: Date, mode: ClockMode, wall: () => number = () => performance.now()) {
    this.mode = mode;
    this.#speed = speedOf(mode);
    this.#wall = wall;
    this.#base = startAt.getTime();
    this.#movedAt = wall();
  }

  get isRunning(): boolean {
    return this.#speed > 0;
  }

  /** Returns the simulated time in milliseconds since 1970. */
  now(): number {
    return this.isRunning && !this.#isHeld
      ? this.#base + Math.floor((this.#wall() - this.#movedAt) * this.#speed)
      : this.#base;
  }

  iso(): string {
    return new Date(this.now()).toISOString();
  }

  /** Sets the simulated time. A running clock continues from the new time. */
  moveTo(ms: number): void {
    this.#base = ms;
    this.#movedAt = this.#wall();
  }

  /** Stops the clock while `work` runs, so that the duration of `work` doesn't add to the delay of the change feed. */
  async hold<T>(work: (now: number) => Promise<T>): Promise<T> {
    this.moveTo(this.now());
    this.#isHeld = true;
    try {
      return await work(this.#base);
    } finally {
      this.#isHeld = false;
      this.#movedAt = this.#wall();
    }
  }

  /**
   * Returns the seconds until `moment`, at least 1. Counts real seconds, or simulated seconds if the clock is frozen.
   */
  secondsTo(moment: Date): number {
    return Math.max(1, Math.ceil((moment.getTime() - this.now()) / 1000 / (this.#speed || 1)));
  }

  /** Returns the start of next month in UTC, when the monthly quotas reset. */
  monthEnd(): Date {
    const now = new Date(this.now());
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
  }
}
