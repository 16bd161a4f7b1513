import type { JournalEntry } from './journal-entry.js';
import { countCalls, sumPages } from './run-progress.js';

/** What the service has counted this month; null if it does not say. */
export type Counted = Extract<JournalEntry, { type: 'usage.before' }>['counted'];

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

/** What a backfill's journal adds up to: `made` are its calls, `counted` those by the service's own count, if known. */
export function foldBackfill(entries: readonly JournalEntry[]) {
  const { rows, bytes } = sumPages(entries, 'backfill.item');
  const left = entries.findLast((entry) => entry.type === 'backfill.done')?.left ?? 0;
  const counted = listTries(entries).reduce((sum, one) => sum + countTry(one), 0n);
  return { rows: Number(rows), bytes, left, made: countCalls(entries).calls, counted };
}

/** The entries of each process, which begins by asking for the count. */
function listTries(entries: readonly JournalEntry[]): JournalEntry[][] {
  const begins = entries.flatMap(({ type }, index) => (type === 'usage.before' ? [index] : []));
  return begins.map((begin, index) => entries.slice(begin, begins[index + 1]));
}

function countTry(entries: readonly JournalEntry[]): bigint {
  const before = entries.find((entry) => entry.type === 'usage.before')?.counted ?? null;
  const after = entries.findLast((entry) => entry.type === 'usage.after')?.counted ?? null;
  return countBetween(before, after)?.calls ?? BigInt(countCalls(entries).calls);
}
