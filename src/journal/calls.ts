import type * as z from 'zod';
import type { counted, Part } from './run-entry.js';

export interface Calls {
  tries: number;
  /** The number of calls in all attempts of the run. Includes earlier calls that downloaded changes for the run. */
  made: number;
  /** The number of calls that didn't return status 200, except those of a process that was killed. */
  refused: number;
  now: { made: number; refused: number };
}

export const NO_CALLS: Calls = { tries: 1, made: 0, refused: 0, now: { made: 0, refused: 0 } };

export const CALLS: Part<Calls> = {
  start: NO_CALLS,
  step(calls, entry) {
    if (entry.type === 'try') return beginTry(calls);
    if (entry.type === 'source.done') return { ...calls, made: calls.made + (entry.spent?.made ?? 0) };
    if (!('calls' in entry)) return calls;
    return countOn(calls, entry.calls, entry.type === 'calls' ? entry.refused : calls.now.refused);
  },
};

export function beginTry(calls: Calls): Calls {
  return { ...calls, tries: calls.tries + 1, now: NO_CALLS.now };
}

/** Updates the totals with the current process's latest counts, which replace the process's earlier counts. */
export function countOn(calls: Calls, made: number, refused = 0): Calls {
  return {
    ...calls,
    made: calls.made + made - calls.now.made,
    refused: calls.refused + refused - calls.now.refused,
    now: { made, refused },
  };
}

/** The service's counters for the current month; null if they are unknown. */
export type Counted = z.output<typeof counted>;

/** The service's counters before and after the run's calls; undefined until they have been read. */
export const USAGE: Part<{ before: Counted | undefined; after: Counted | undefined }> = {
  start: { before: undefined, after: undefined },
  step(usage, entry) {
    if (entry.type === 'usage.before' && usage.before === undefined) return { ...usage, before: entry.counted };
    return entry.type === 'usage.after' ? { ...usage, after: entry.counted } : usage;
  },
};

/**
 * Returns how much the service's counters grew between two /plan responses, including both of these calls. Returns
 * undefined if a response has no counters, or if the counters were reset in between.
 */
export function countBetween(before: Counted, after: Counted) {
  if (before === null || after === null || before.resetsAt !== after.resetsAt) return undefined;
  return {
    // `before` already includes the first /plan call, so the difference lacks this call.
    calls: after.apiCalls - before.apiCalls + 1n,
    exportRows: after.exportRows - before.exportRows,
  };
}
