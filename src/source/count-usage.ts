import { countBetween } from '../journal/calls.js';
import { type Caller, fetchPlan, pickUsage } from './read-plan.js';
import { skipSample } from './sample.js';

/** The service's count from the run's first call to its last, both included; null if unknown. */
export interface Usage {
  usage_calls: bigint | null;
  usage_export_rows: bigint | null;
}

export const NO_USAGE: Usage = { usage_calls: null, usage_export_rows: null };

/** With fewer calls, one more would cost too much for the comparison. */
const LEAST_CALLS = 40;

/**
 * Asks for the plan again (section 4) after all other calls, to compare the ledger with the service's count. Skipped if
 * no call is left, or if the run was small and took no export.
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

export function isComparisonWorthIt(calls: number, hasExport: boolean): boolean {
  return hasExport || calls >= LEAST_CALLS;
}

async function readUsage({ client, io }: Caller) {
  const plan = await fetchPlan(client).catch((error: unknown) => skipSample(error, io));
  return plan === undefined ? null : pickUsage(plan);
}
