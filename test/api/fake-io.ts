import type { Io } from '../../src/io/io.js';

export interface LogEvent {
  level: string;
  event: string;
  facts: Record<string, unknown>;
}

export interface FakeIo extends Io {
  /** Every wait asked for, in milliseconds. */
  slept: number[];
  events: LogEvent[];
  /** Moves the clock. */
  pass(ms: number): void;
}

/** A world whose clock moves only by sleeping, so that no test waits. */
export function createFakeIo(random = 0.5): FakeIo {
  let now = Date.UTC(2026, 10, 20, 12);
  const slept: number[] = [];
  const events: LogEvent[] = [];
  return {
    slept,
    events,
    pass: (ms) => {
      now += ms;
    },
    now: () => new Date(now),
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms;
    },
    random: () => random,
    log: (level, event, facts = {}) => {
      if (level !== 'trace') events.push({ level, event, facts });
    },
    progress: () => {},
  };
}
