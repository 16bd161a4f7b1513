import { setTimeout } from 'node:timers/promises';
import type { Io } from './io.js';

/** The real environment, without log and progress. The command line adds them. */
export const realIo: Io = {
  now: () => new Date(),
  // Node's AbortError is replaced by the signal's reason.
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => signal?.throwIfAborted()),
  random: Math.random,
  log: () => {},
  progress: () => {},
};
