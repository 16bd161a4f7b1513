import { setTimeout } from 'node:timers/promises';
import type { Io } from './io.js';

/** The real world without output. The command line adds log and progress. */
export const realIo: Io = {
  now: () => new Date(),
  // Node's own error is replaced by the signal's reason.
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => signal?.throwIfAborted()),
  random: Math.random,
  log: () => {},
  progress: () => {},
};
