import type * as z from 'zod';
import type { counted, RunEntry } from './run-entry.js';

/** The calls of a run, over all the processes that worked on it. */
export interface Calls {
  tries: number;
  /** Those of backfills that the run took over included. */
  made: number;
  /** Calls that surely brought no 200. A killed process leaves no count. */
  refused: number;
  /** Those of the process that works on it now, or worked on it last. */
  now: { made: number; refused: number };
}

export const NO_CALLS: Calls = { tries: 1, made: 0, refused: 0, now: { made: 0, refused: 0 } };

export function foldCalls(calls: Calls, entry: RunEntry): Calls {
  if (entry.type === 'try') return beginTry(calls);
  if (entry.type === 'backfill') return { ...calls, made: calls.made + entry.made };
  if (!('calls' in entry)) return calls;
  return countOn(calls, entry.calls, entry.type === 'calls' ? entry.refused : calls.now.refused);
}

export function beginTry(calls: Calls): Calls {
  return { ...calls, tries: calls.tries + 1, now: NO_CALLS.now };
}

/** What an entry says counts within its process: of two, the later one holds. */
export function countOn(calls: Calls, made: number, refused = 0): Calls {
  return {
    ...calls,
    made: calls.made + made - calls.now.made,
    refused: calls.refused + refused - calls.now.refused,
    now: { made, refused },
  };
}

/** What the service has counted this month; null if it does not say. */
export type Counted = z.output<typeof counted>;

/** The service's count as the run's first try began, and when its calls were made; undefined until it was asked. */
export interface UsageCounts {
  before: Counted | undefined;
  after: Counted | undefined;
}

export function foldUsage(usage: UsageCounts, entry: RunEntry): UsageCounts {
  if (entry.type === 'usage.before' && usage.before === undefined) return { ...usage, before: entry.counted };
  return entry.type === 'usage.after' ? { ...usage, after: entry.counted } : usage;
}

/** What the service counted between two answers of /plan, the calls for both included. */
interface Difference {
  calls: bigint;
  exportRows: bigint;
}

/** Undefined where an answer lacks it, or a month began in between: the counters started over. */
export function countBetween(before: Counted, after: Counted): Difference | undefined {
  if (before === null || after === null || before.resetsAt !== after.resetsAt) return undefined;
  return {
    // Whether an answer of /plan counts itself or not: the first call or the last is not in the difference.
    calls: after.apiCalls - before.apiCalls + 1n,
    exportRows: after.exportRows - before.exportRows,
  };
}
