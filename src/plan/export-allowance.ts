import type { PricelakeError } from '../io/errors.js';
import { type Allowance, type Bound, countBlocks, countLeft, refuseBy } from './allowance.js';

/** The cost of an export according to its headers (API §4, /export). */
export interface TakenExport {
  rows: bigint;
  /** The X-Export-Overage header. */
  overage: boolean;
  /** The X-Export-Rows-Remaining header. It also reflects what other clients of the account have used. */
  remaining?: bigint | undefined;
}

/**
 * Returns an error if an export of `rows` rows isn't allowed, or if the service would truncate it. A truncated export
 * uses rows without completing the copy. Call this function before each export and each retry, because the service also
 * bills retries. Call `takeExport` afterwards.
 */
export function refuseExport(allowance: Allowance, rows: bigint): PricelakeError | undefined {
  return refuseByQuota(allowance, rows) ?? refuseByRule(allowance, rows);
}

function refuseByQuota(allowance: Allowance, rows: bigint): PricelakeError | undefined {
  const { quota, bills, blocks: agreed, resetsAt: nextRunAt } = allowance;
  if (quota === undefined || rows <= countLeft(quota)) return undefined;
  const what = `the export needs ${rows} rows, but only ${countLeft(quota)} of the plan's ${quota.allowed} are left this month`;
  const facts = { nextRunAt, wanted: Number(rows) };
  if (!bills) {
    const hint = 'Wait until next month, or choose a larger plan.';
    return refuseBy('quota', `${what}, so it would be truncated`, quota, { ...facts, hint });
  }
  const blocks = countOverage(allowance, rows);
  if (agreed === null || blocks <= agreed) return undefined;
  const said = agreed === 0n ? 'no overage is allowed' : `the limit is ${agreed}`;
  return refuseBy(
    'budget',
    `${what}: up to ${blocks} block${blocks === 1n ? '' : 's'} of 10,000 would be billed, but ${said}`,
    quota,
    {
      ...facts,
      overageBlocks: Number(blocks),
      hint: `Allow it with --max-overage ${blocks} for this run, or with budget.overage for a month; or wait until next month.`,
    },
  );
}

function refuseByRule({ rows: bound, resetsAt }: Allowance, rows: bigint): PricelakeError | undefined {
  if (bound === undefined || rows <= countLeft(bound)) return undefined;
  const { rule, allowed, monthly } = bound;
  const what = `the export needs ${rows} rows, but only ${countLeft(bound)} of the ${allowed} allowed by ${rule} are left`;
  const wanted = Number(rows);
  if (!monthly) return refuseBy('budget', what, bound, { wanted, hint: `Raise ${rule}.` });
  const hint = `Raise ${rule}, or wait until next month.`;
  return refuseBy('budget', what, bound, { nextRunAt: resetsAt, wanted, hint });
}

/**
 * Returns the maximum number of overage blocks that an export may start. The API document doesn't define whether the
 * service rounds up blocks for each export or once a month. This function assumes the first case, which costs more.
 */
export function countOverage({ quota, bills }: Allowance, rows: bigint): bigint {
  return bills && quota !== undefined ? countBlocks(rows - countLeft(quota)) : 0n;
}

/** Subtracts an export from the allowance. If the service billed overage, no quota is left. */
export function takeExport(before: Allowance, taken: TakenExport): Allowance {
  const { rows: bound, blocks } = before;
  const billed = countOverage(before, taken.rows);
  return {
    ...before,
    rows: bound === undefined ? undefined : { ...bound, used: bound.used + taken.rows },
    quota: takeQuota(before.quota, taken),
    bills: before.bills || taken.overage,
    blocks: blocks === null ? null : blocks > billed ? blocks - billed : 0n,
  };
}

function takeQuota(quota: Bound | undefined, { rows, overage, remaining }: TakenExport): Bound | undefined {
  const known = quota ?? { rule: 'exportRowsPerMonth', allowed: rows, used: 0n, monthly: true };
  if (quota === undefined && !overage) return undefined;
  const left = overage ? 0n : (remaining ?? known.allowed);
  const used = known.used + rows;
  return { ...known, used: known.allowed - left > used ? known.allowed - left : used };
}
