import { setTimeout } from 'node:timers/promises';
import type { Io } from './io.js';

/** The real clock, sleep and random numbers. Logs and reports nothing; the command line adds logging and progress. */
export const realIo: Io = {
  now: () => new Date(),
  // Throws the signal's reason instead of Node's AbortError.
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => signal?.throwIfAborted()),
  random: Math.random,
  log: () => {},
  progress: () => {},
};
