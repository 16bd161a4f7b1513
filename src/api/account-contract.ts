/**
 * The part of the API contract for the account: the plan, its limits, and error responses. Many commands need only this
 * part. It is in its own file, because loading the rest of the contract takes several milliseconds.
 */
import * as z from 'zod';
import { dateTime, int32, int64, toDouble } from './wire-types.js';

const limit = z.preprocess(toDouble, z.number().nonnegative().nullable()).optional();
const granted = z.boolean().nullable().optional();

/** The limits of a plan (API §8). A null or missing limit means unlimited. */
export const planLimits = z
  .looseObject({
    datasets: limit.describe('Number of readable datasets'),
    apiCallsPerMonth: limit.describe('Calls per calendar month (UTC)'),
    ratePerSecond: limit.describe('Requests per second'),
    exportRowsPerMonth: limit.describe('Export rows per calendar month (UTC)'),
    historyDays: limit.describe('How far back item history and the feed from `after=0` reach'),
    changeFeed: granted.describe('Change feed access'),
    webhooks: granted.describe('Webhook delivery'),
    delayHours: limit.describe('Meaning: not shown'),
  })
  .meta({ id: 'PlanLimits', description: 'Limits by name. A null value means unlimited.' });

export const planUsage = z
  .looseObject({
    apiCalls: int64.describe('Calls made'),
    exportRows: int64.describe('Rows exported'),
    resetsAt: dateTime.describe('The first of next month, 00:00 UTC, when both counters start over'),
  })
  .meta({
    id: 'PlanUsage',
    description: 'Counters of the calendar month in UTC, for calls made with API keys or tokens.',
  });

const planCode = z.string().describe('Plan code');
const upgradeUrl = z.string().describe('URL of the plans and prices');

export const planInfo = z
  .looseObject({
    plan: planCode,
    name: z.string().describe('Plan display name'),
    status: z.enum(['TRIALING', 'ACTIVE', 'PAST_DUE', 'CANCELED']).nullable().describe('Null without a subscription'),
    trialEndsAt: dateTime.nullable().describe('When the trial ends (status `TRIALING`)'),
    limits: planLimits.describe('Limits by name. A null value means unlimited'),
    lockedDatasets: int32.describe("The caller's datasets beyond what the plan includes. They return 402"),
    upgradeUrl,
    usage: planUsage.nullable().describe("This month's use. Null for an operator's token"),
  })
  .meta({
    id: 'PlanInfo',
    description: "The caller's plan, limits and this month's use. The plan in effect is Free once a trial has ended.",
  });
export type PlanInfo = z.infer<typeof planInfo>;

/** The body of an error response (API §7). */
export const errorBody = z
  .looseObject({
    status: int32.describe('HTTP status'),
    error: z.string().describe('Status text'),
    message: z.string().describe('Says what is wrong; for 400, which parameter'),
    docsUrl: z.string().describe('URL of a help page about this error'),
  })
  .meta({ id: 'Error', description: 'The body of every error response.' });

export const LIMIT_NAMES = [
  'datasets',
  'changeFeed',
  'apiCallsPerMonth',
  'ratePerSecond',
  'exportRowsPerMonth',
  'paymentOverdue',
] as const;

/** The body of a 402 or 429 response (API §7). */
export const limitErrorBody = errorBody
  .extend({
    limit: z.enum(LIMIT_NAMES).describe('Which limit refuses'),
    allowed: z.unknown().describe("The limit's value in the caller's plan"),
    plan: planCode,
    upgradeUrl,
  })
  .meta({ id: 'LimitError', description: 'The body of a 402 or 429 response.' });
