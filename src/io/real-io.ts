import { setTimeout } from 'node:timers/promises';
import type { Io } from './io.js';

/** The real environment. Logs and reports nothing; the command line adds this. */
export const realIo: Io = {
  now: () => new Date(),
  // Throws the signal's reason in place of Node's AbortError.
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => signal?.throwIfAborted()),
  random: Math.random,
  log: () => {},
  progress: () => {},
};
