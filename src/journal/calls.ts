import type * as z from 'zod';
import type { counted, Part } from './run-entry.js';

export interface Calls {
  tries: number;
  /** Includes calls that brought changes of sources before the run. */
  made: number;
  /** Calls that did not return status 200. The count of a killed process is missing. */
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

/** Applies the counts of an entry, which replace earlier counts of the same process. */
export function countOn(calls: Calls, made: number, refused = 0): Calls {
  return {
    ...calls,
    made: calls.made + made - calls.now.made,
    refused: calls.refused + refused - calls.now.refused,
    now: { made, refused },
  };
}

/** The service's counters of this month; null if unknown. */
export type Counted = z.output<typeof counted>;

/** The service's counters before and after the run's calls; undefined until they are read. */
export const USAGE: Part<{ before: Counted | undefined; after: Counted | undefined }> = {
  start: { before: undefined, after: undefined },
  step(usage, entry) {
    if (entry.type === 'usage.before' && usage.before === undefined) return { ...usage, before: entry.counted };
    return entry.type === 'usage.after' ? { ...usage, after: entry.counted } : usage;
  },
};

/**
 * The difference of the service's counters between two answers of /plan, including the calls for both. Undefined if an
 * answer lacks a counter, or a new month has reset them.
 */
export function countBetween(before: Counted, after: Counted) {
  if (before === null || after === null || before.resetsAt !== after.resetsAt) return undefined;
  return {
    // One is added, because the difference includes only one of the two calls of /plan, whether or not an answer counts
    // itself.
    calls: after.apiCalls - before.apiCalls + 1n,
    exportRows: after.exportRows - before.exportRows,
  };
}
