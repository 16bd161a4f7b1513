import * as z from 'zod';

export const PLAN_CODES = ['free', 'trial', 'pro', 'unlimited'] as const;
export type PlanCode = (typeof PLAN_CODES)[number];

const count = z.number().int().nonnegative().nullable();

/** Limits by the names of section 8; null is unlimited. */
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
  /** Export rows beyond the quota are billed instead of cut off (section 4, /export, quota rules 2 and 3). */
  overage: boolean;
}

/** How long a trial lasts; afterwards the plan in effect is Free. */
export const TRIAL_DAYS = 14;
/** A payment overdue for this long makes every request answer 402 (section 3, plan status). */
export const OVERDUE_DAYS = 30;

/** The API document shows no values of its plans: these are the sandbox's own. */
export const PLANS: Record<PlanCode, Plan> = {
  free: {
    code: 'free',
    name: 'Free',
    status: null,
    overage: false,
    limits: {
      datasets: 1,
      apiCallsPerMonth: 1_000,
      ratePerSecond: 2,
      exportRowsPerMonth: 1_000,
      historyDays: 7,
      changeFeed: false,
      webhooks: false,
      delayHours: 24,
    },
  },
  trial: {
    code: 'trial',
    name: 'Trial',
    status: 'TRIALING',
    overage: false,
    limits: {
      datasets: 3,
      apiCallsPerMonth: 10_000,
      ratePerSecond: 10,
      exportRowsPerMonth: 10_000,
      historyDays: 30,
      changeFeed: true,
      webhooks: true,
      delayHours: 0,
    },
  },
  pro: {
    code: 'pro',
    name: 'Pro',
    status: 'ACTIVE',
    overage: true,
    limits: {
      datasets: 10,
      apiCallsPerMonth: 500_000,
      ratePerSecond: 50,
      exportRowsPerMonth: 5_000_000,
      historyDays: 365,
      changeFeed: true,
      webhooks: true,
      delayHours: 0,
    },
  },
  unlimited: {
    code: 'unlimited',
    name: 'Unlimited',
    status: 'ACTIVE',
    overage: true,
    limits: {
      datasets: null,
      apiCallsPerMonth: null,
      ratePerSecond: null,
      exportRowsPerMonth: null,
      historyDays: null,
      changeFeed: true,
      webhooks: true,
      delayHours: 0,
    },
  },
};
