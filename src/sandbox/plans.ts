import * as z from 'zod';
import { PricelakeError } from '../io/errors.js';

export const PLAN_CODES = ['free', 'trial', 'pro', 'unlimited'] as const;
export type PlanCode = (typeof PLAN_CODES)[number];

const count = z.number().int().nonnegative().nullable();

/** The limits of a plan, named as in API §8. Null means unlimited. */
export const planLimits = z.strictObject({
  datasets: count,
  apiCallsPerMonth: count,
  ratePerSecond: z.number().positive().nullable(),
  exportRowsPerMonth: count,
  historyDays: z.number().nonnegative().nullable(),
  changeFeed: z.boolean(),
  webhooks: z.boolean(),
  delayHours: z.number().nonnegative().nullable(),
});
export type PlanLimits = z.infer<typeof planLimits>;

export interface Plan {
  code: PlanCode;
  name: string;
  status: 'TRIALING' | 'ACTIVE' | 'PAST_DUE' | 'CANCELED' | null;
  limits: PlanLimits;
  /**
   * True if the service charges for rows above the quota; false if the export ends there (API §4, /export, rules 2 and
   * 3).
   */
  overage: boolean;
}

/** The length of a trial in days. Afterward, the Free plan applies. */
export const TRIAL_DAYS = 14;
/** The number of days after which an overdue payment makes all requests return 402 (API §3, plan status). */
export const OVERDUE_DAYS = 30;

/** The limits of each plan; null means unlimited. The API document states no limits, so these numbers are made up. */
const LIMITS: { [L in keyof PlanLimits]: Record<PlanCode, PlanLimits[L]> } = {
  datasets: { free: 1, trial: 3, pro: 10, unlimited: null },
  apiCallsPerMonth: { free: 1_000, trial: 10_000, pro: 500_000, unlimited: null },
  ratePerSecond: { free: 2, trial: 10, pro: 50, unlimited: null },
  exportRowsPerMonth: { free: 1_000, trial: 10_000, pro: 5_000_000, unlimited: null },
  historyDays: { free: 7, trial: 30, pro: 365, unlimited: null },
  changeFeed: { free: false, trial: true, pro: true, unlimited: true },
  webhooks: { free: false, trial: true, pro: true, unlimited: true },
  delayHours: { free: 24, trial: 0, pro: 0, unlimited: 0 },
};

function plan(code: PlanCode, name: string, status: Plan['status'], overage: boolean): Plan {
  const limits = Object.entries(LIMITS).map(([limit, values]) => [limit, values[code]]);
  return { code, name, status, limits: Object.fromEntries(limits) as PlanLimits, overage };
}

export const PLANS: Record<PlanCode, Plan> = {
  free: plan('free', 'Free', null, false),
  trial: plan('trial', 'Trial', 'TRIALING', false),
  pro: plan('pro', 'Pro', 'ACTIVE', true),
  unlimited: plan('unlimited', 'Unlimited', 'ACTIVE', true),
};

const limits = planLimits.partial();

/**
 * Parses limits such as `apiCallsPerMonth=100`, `ratePerSecond=null` or `changeFeed=false` (API §8).
 * @throws PricelakeError `usage` that names the invalid limit and the allowed values
 */
export function parseLimits(specs: readonly string[]): Partial<PlanLimits> {
  const entries = specs.map((spec) => {
    const [, name, value] = /^(\w+)=(\S+)$/.exec(spec) ?? [];
    if (name === undefined || value === undefined) throw refuse(spec, 'expected NAME=VALUE');
    if (!(name in planLimits.shape))
      throw refuse(spec, `unknown limit; choose from ${Object.keys(planLimits.shape).join(', ')}`);
    const parsed = limits.safeParse({ [name]: readValue(value) });
    if (!parsed.success) throw refuse(spec, z.prettifyError(parsed.error).replaceAll('\n', ' '));
    return [name, readValue(value)];
  });
  return limits.parse(Object.fromEntries(entries)) as Partial<PlanLimits>;
}

function readValue(text: string): unknown {
  if (text === 'null') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function refuse(spec: string, reason: string): PricelakeError {
  return new PricelakeError('usage', `limit '${spec}': ${reason}`);
}
