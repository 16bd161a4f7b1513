import type { PlanInfo } from '../api/account-contract.js';
import { countOf } from '../formats/count.js';
import { type ErrorCode, PricelakeError } from '../io/errors.js';
import type { BudgetShare } from './budget-share.js';

/** A monthly maximum, as a percentage of the plan's limit or as a number. */
export type Cap = { percent: number } | { count: number };

/** The section `budget` of the pipeline file: monthly limits for all runs together. */
export interface Budget {
  calls: Cap;
  /** The maximum number of export rows. A percentage applies only as long as no overage is allowed. */
  exportRows: Cap;
  /** The maximum number of started overage blocks that may be billed; null means unlimited. */
  overage: number | null;
  /** This shard's part of the budget, if several shards share the budget. */
  share?: BudgetShare | undefined;
}

export interface RunCaps {
  /** The maximum number of export rows for the run, including all its attempts. */
  maxRows?: number | undefined;
  /** The maximum number of overage blocks that may be billed for the run. It replaces `budget.overage`. */
  maxOverage?: number | undefined;
  /** Called for each export. `blocks` is the maximum number of overage blocks that may be billed for the export. */
  onExport?: ((rows: bigint, blocks: bigint) => void) | undefined;
}

/** The parts of the account's plan that limit a run. A service may omit nulls, so nullable fields may be missing. */
interface PlanFacts {
  limits: PlanInfo['limits'];
  /** A status from the API document, or an unknown one. */
  status?: string | null | undefined;
  usage?: PlanInfo['usage'] | undefined;
}

export interface Bound {
  /** The name of the setting or limit, as users know it: `budget.calls`, `--max-rows` or `apiCallsPerMonth`. */
  rule: string;
  allowed: bigint;
  used: bigint;
  /** True if the limit resets each month. */
  monthly: boolean;
}

/** The calls, rows and overage blocks that a run may still use. */
export interface Allowance {
  /** The tightest limit on calls; undefined if calls are unlimited. */
  calls: Bound | undefined;
  /** The tightest limit on export rows, ignoring the plan's quota; undefined if no other limit applies. */
  rows: Bound | undefined;
  /** The plan's quota of export rows; undefined if it is unlimited. */
  quota: Bound | undefined;
  /** True if the service bills rows beyond the quota. False if it truncates the export instead (Free plan, trial). */
  bills: boolean;
  /** The overage blocks that may still be billed; null means unlimited. */
  blocks: bigint | null;
  /** The time at which the monthly counters reset; undefined if the service doesn't count usage. */
  resetsAt: Date | undefined;
}

export const NO_EXPORTS: Allowance = {
  calls: undefined,
  rows: { rule: 'a run that has landed', allowed: 0n, used: 0n, monthly: false },
  quota: undefined,
  bills: false,
  blocks: 0n,
  resetsAt: undefined,
};

/** According to the API document, the service bills rows beyond the quota for plans with these statuses. */
const BILLING: ReadonlySet<PlanFacts['status']> = new Set(['ACTIVE', 'PAST_DUE', 'CANCELED']);

/**
 * Computes the calls, rows and overage blocks that a run may still use. They depend on the plan (API §8), the budget
 * and the command line. For an operator's token, the service doesn't count usage (API §2, PlanInfo). Percentages and
 * the plan's quotas then don't apply, and a budget given as a number applies to each run.
 */
export function findAllowance({ limits, status, usage }: PlanFacts, budget: Budget, caps: RunCaps = {}): Allowance {
  const isCounted = usage !== undefined && usage !== null;
  const callLimit = isCounted ? floorLimit(limits.apiCallsPerMonth) : undefined;
  const rowLimit = isCounted ? floorLimit(limits.exportRowsPerMonth) : undefined;
  const calls = usage?.apiCalls ?? 0n;
  const rows = usage?.exportRows ?? 0n;
  const agreed = caps.maxOverage ?? budget.overage;
  const isReserveKept = 'count' in budget.exportRows || agreed === 0;
  const billedBefore = caps.maxOverage === undefined && rowLimit !== undefined ? countBlocks(rows - rowLimit) : 0n;
  const callCap = resolveCap(budget.calls, callLimit);
  const rowCap = isReserveKept ? resolveCap(budget.exportRows, rowLimit) : undefined;
  const { share } = budget;
  const own = share === undefined || !isCounted ? undefined : share.readUse(new Date(usage.resetsAt));
  const shared = (rule: string, limits: readonly (bigint | undefined)[], used: bigint | undefined) =>
    share === undefined
      ? undefined
      : bind(`${rule} of shard ${share.shard}`, takePart(findLeast(limits), share.part), used ?? 0n, isCounted);
  return {
    calls: findTightest(
      findTightest(
        bind('apiCallsPerMonth', callLimit, calls, isCounted),
        bind('budget.calls', callCap, calls, isCounted),
      ),
      shared('budget.calls', [callLimit, callCap], own?.calls),
    ),
    rows: findTightest(
      findTightest(
        bind('budget.exportRows', rowCap, rows, isCounted),
        bind('--max-rows', caps.maxRows === undefined ? undefined : BigInt(caps.maxRows), 0n, false),
      ),
      shared('budget.exportRows', [rowCap], own?.exportRows),
    ),
    quota: findTightest(
      bind('exportRowsPerMonth', rowLimit, rows, isCounted),
      shared('exportRowsPerMonth', [rowLimit], own?.exportRows),
    ),
    // Quota rules 2 and 3 of /export (API §4). A plan without a feed is the Free plan (API §8), which bills nothing.
    bills: BILLING.has(status) && limits.changeFeed !== false,
    blocks:
      agreed === null
        ? null
        : own === undefined || share === undefined || caps.maxOverage !== undefined
          ? atLeastZero(BigInt(agreed) - billedBefore)
          : atLeastZero((takePart(BigInt(agreed), share.part) ?? 0n) - own.blocks),
    resetsAt: isCounted ? new Date(usage.resetsAt) : undefined,
  };
}

/** Returns a part of a limit, rounded down, so that all parts together don't exceed the limit. */
function takePart(limit: bigint | undefined, part: number): bigint | undefined {
  return limit === undefined ? undefined : BigInt(Math.floor(Number(limit) * part));
}

function findLeast(limits: readonly (bigint | undefined)[]): bigint | undefined {
  return limits.reduce((least, one) => (least === undefined || (one !== undefined && one < least) ? one : least));
}

function floorLimit(limit: number | null | undefined): bigint | undefined {
  return limit === null || limit === undefined ? undefined : BigInt(Math.floor(limit));
}

function resolveCap(cap: Cap, limit: bigint | undefined): bigint | undefined {
  if ('count' in cap) return BigInt(cap.count);
  return limit === undefined ? undefined : BigInt(Math.floor((Number(limit) * cap.percent) / 100));
}

function bind(rule: string, allowed: bigint | undefined, used: bigint, monthly: boolean): Bound | undefined {
  return allowed === undefined ? undefined : { rule, allowed, used, monthly };
}

function findTightest(a: Bound | undefined, b: Bound | undefined): Bound | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return countLeft(b) < countLeft(a) ? b : a;
}

export function countLeft({ allowed, used }: Pick<Bound, 'allowed' | 'used'>): bigint {
  return atLeastZero(allowed - used);
}

/** Returns the number of calls left after `made` calls; null means unlimited. */
export function countCallsLeft({ calls }: Pick<Allowance, 'calls'>, made: bigint): bigint | null {
  return calls === undefined ? null : atLeastZero(countLeft(calls) - made);
}

/** Returns the number of export rows that may be used without being billed; null means unlimited. */
export function countRowsLeft({ rows, quota }: Pick<Allowance, 'rows' | 'quota'>): bigint | null {
  const tightest = findTightest(rows, quota);
  return tightest === undefined ? null : countLeft(tightest);
}

/** The number of calls to reserve for a run's other steps: the datasets, the feed, full item reads, and the sample. */
export const RESERVED_CALLS = 50n;

export function countBesideRun(wanted: number, callsLeft: bigint | null): number {
  return callsLeft === null ? wanted : Math.min(wanted, Math.max(0, Number(callsLeft - RESERVED_CALLS)));
}

function atLeastZero(count: bigint): bigint {
  return count > 0n ? count : 0n;
}

/** The number of rows in an overage block. The service bills each started block (API §4, /export, quota rule 2). */
const BLOCK_ROWS = 10_000n;

/** Returns the number of blocks that these rows beyond the quota would start. */
export function countBlocks(rowsBeyond: bigint): bigint {
  return (atLeastZero(rowsBeyond) + BLOCK_ROWS - 1n) / BLOCK_ROWS;
}

/** Returns the error for a call that the allowance refuses, after the run has made `made` calls. */
export function refuseCall({ calls, resetsAt }: Pick<Allowance, 'calls' | 'resetsAt'>, made: number): PricelakeError {
  const bound = calls ?? { rule: 'budget.calls', allowed: 0n, used: 0n, monthly: true };
  const { rule, allowed, monthly } = bound;
  const isQuota = rule === 'apiCallsPerMonth';
  const what = `${rule} allows ${countOf(allowed, 'call')}${monthly ? ' a month' : ' a run'}, and none are left`;
  const hint = `${isQuota ? 'Choose a larger plan' : `Raise ${rule}`}, or run the same command again${monthly ? ' next month' : ''}. It will continue from here.`;
  return refuseBy(isQuota ? 'quota' : 'budget', `${what} (this run made ${made}); landed data is kept`, bound, {
    ...(resetsAt === undefined ? {} : { nextRunAt: resetsAt }),
    made,
    hint,
  });
}

export function refuseBy(
  code: ErrorCode,
  message: string,
  { rule, allowed, used }: Bound,
  facts: Record<string, unknown>,
): PricelakeError {
  return new PricelakeError(code, message, { rule, allowed: Number(allowed), used: Number(used), ...facts });
}
