import { skipSample } from '../extract/sample.js';
import { countBetween } from '../journal/calls.js';
import { type Caller, fetchPlan, pickUsage } from './read-plan.js';

/** What the service counted between the run's first call and its last, both included. Null where that isn't known. */
export interface Usage {
  usage_calls: bigint | null;
  usage_export_rows: bigint | null;
}

export const NO_USAGE: Usage = { usage_calls: null, usage_export_rows: null };

/** One call more is worth the comparison where it is at most so small a part of the run's. */
const LEAST_CALLS = 40;

/**
 * Asks once more for the plan (section 4), when all other calls of the run are made, so that the ledger can be compared
 * with what the service counted. Not asked where the run was small and took no export: the call would cost more than
 * it tells. The comparison is optional: a run that has no call left for it skips it.
 */
export async function countUsage(run: Caller): Promise<Usage> {
  const { client, io, landing } = run;
  const { journal } = landing;
  if (journal.state.usage.after === undefined) {
    const counted = isWorthIt(run) ? await readUsage(run) : null;
    await journal.append({ type: 'usage.after', counted, calls: client.calls() });
    io.log('debug', 'usage', { ...counted });
  }
  const { usage, histories } = journal.state;
  const counted = countBetween(usage.before ?? null, usage.after ?? null);
  if (counted === undefined) return NO_USAGE;
  const backfill = histories?.counted ?? 0n;
  return { usage_calls: counted.calls + backfill, usage_export_rows: counted.exportRows };
}

function isWorthIt({ landing: { journal } }: Caller): boolean {
  const { usage, calls, exports } = journal.state;
  return usage.before !== null && isComparisonWorthIt(calls.made, exports.begun > 0);
}

/** Whether a run of so many calls asks for the plan once more. */
export function isComparisonWorthIt(calls: number, hasExport: boolean): boolean {
  return hasExport || calls >= LEAST_CALLS;
}

async function readUsage({ client, io }: Caller) {
  const plan = await fetchPlan(client).catch((error: unknown) => skipSample(error, io));
  return plan === undefined ? null : pickUsage(plan);
}
