import { PricelakeError } from '../io/errors.js';

/** The feed shows a change this long after it happened (section 4, /changes, rule 3). */
export const FEED_DELAY_MS = 30_000;

/** `frozen` stands still between advances, `real` is wall time, `60x` runs sixty times as fast. */
export type ClockMode = 'frozen' | 'real' | `${number}x`;

const MAX_SPEED = 100_000;

/** @throws PricelakeError `usage` */
export function parseClockMode(text: string): ClockMode {
  const isNamed = text === 'frozen' || text === 'real';
  if (isNamed) return text;
  const speed = /^\d+(\.\d+)?x$/.test(text) ? Number.parseFloat(text) : 0;
  if (speed > 0 && speed <= MAX_SPEED) return text as ClockMode;
  throw new PricelakeError('usage', `the clock "${text}" is not one of frozen, real and 60x, up to ${MAX_SPEED}x`);
}

/** Speed relative to wall time; 0 if the clock stands still. */
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

  /** @param wall milliseconds */
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

  /** Milliseconds since 1970. */
  now(): number {
    return this.isRunning && !this.#isHeld
      ? this.#base + Math.floor((this.#wall() - this.#movedAt) * this.#speed)
      : this.#base;
  }

  iso(): string {
    return new Date(this.now()).toISOString();
  }

  /** Moves the clock. A running clock continues from the new time. */
  moveTo(ms: number): void {
    this.#base = ms;
    this.#movedAt = this.#wall();
  }

  /**
   * Stands still while the world takes a step, then continues. However fast the clock, the feed shows a change 30 seconds
   * after it happened, without the time that the step took.
   */
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

  /** Seconds of wall time, at least 1; of its own time if frozen. */
  secondsTo(moment: Date): number {
    return Math.max(1, Math.ceil((moment.getTime() - this.now()) / 1000 / (this.#speed || 1)));
  }

  /** The first of next month, 00:00 UTC, when the month's counters start over. */
  monthEnd(): Date {
    const now = new Date(this.now());
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
  }
}
