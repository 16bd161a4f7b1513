import { PricelakeError } from '../errors/errors.js';

/** A change appears in the feed this long after it happened (section 4, /changes, rule 3). */
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
  throw new PricelakeError('usage', `the clock "${text}" is none of frozen, real and 60x, up to ${MAX_SPEED}x`);
}

/** How many times as fast as wall time; 0 stands still. */
export function speedOf(mode: ClockMode): number {
  if (mode === 'frozen') return 0;
  return mode === 'real' ? 1 : Number.parseFloat(mode);
}

/** The sandbox's own time. */
export class SimulatedClock {
  readonly mode: ClockMode;
  readonly #speed: number;
  readonly #wall: () => number;
  #base: number;
  #isHeld = false;
  #movedAt: number;

  /** @param wall milliseconds of wall time */
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

  /** Now in milliseconds since 1970, UTC. */
  now(): number {
    return this.isRunning && !this.#isHeld
      ? this.#base + Math.floor((this.#wall() - this.#movedAt) * this.#speed)
      : this.#base;
  }

  iso(): string {
    return new Date(this.now()).toISOString();
  }

  /** Sets the clock; a running one runs on from there. */
  moveTo(ms: number): void {
    this.#base = ms;
    this.#movedAt = this.#wall();
  }

  /**
   * Stands still while the world takes a step, then runs on from there: however fast the clock, the feed shows a change
   * 30 seconds after it happened, not that plus what the step took.
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

  /** Seconds of wall time until then, at least 1; for a frozen clock, its own. */
  secondsTo(moment: Date): number {
    return Math.max(1, Math.ceil((moment.getTime() - this.now()) / 1000 / (this.#speed || 1)));
  }

  /** The first of next month, 00:00 UTC, when the month's counters start over. */
  monthEnd(): Date {
    const now = new Date(this.now());
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
  }
}
