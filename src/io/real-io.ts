import { setTimeout } from 'node:timers/promises';
import type { Io } from './io.js';

/** The real clock, sleep and random numbers. Logging and progress do nothing until the command line replaces them. */
export const realIo: Io = {
  now: () => new Date(),
  // Throws the signal's reason instead of Node's AbortError.
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => signal?.throwIfAborted()),
  random: Math.random,
  log: () => {},
  progress: () => {},
};
