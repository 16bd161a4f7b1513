import { createMiddleware } from 'hono/factory';
import { countOf } from '../../formats/count.js';
import { OVERDUE_DAYS } from '../plans.js';
import type { ReadingValue } from '../readings/registry.js';
import { type Account, isMetered, type KeyKind } from './account.js';
import { ApiError, refuseByLimit } from './answers.js';
import { buildCaller, type SandboxEnv, type Service } from './caller.js';
import { Parameters } from './parameters.js';

/**
 * Responses with these statuses count as calls, or not, depending on the `calls.refused` interpretation (registry.ts).
 */
const REFUSALS = new Set([401, 402, 429]);

/**
 * Checks the key, the rate, the payment and the monthly quota, in this order (API §5 and §7), and sets limit
 * headers.
 */
export function admitCaller(service: Service) {
  return createMiddleware<SandboxEnv>(async (c, next) => {
    const { account, readings } = service;
    const kind = account.identify(c.req.header('authorization') ?? null);
    let isCounted = false;
    try {
      if (kind === null) throw refuseKey();
      takeCall(service, kind);
      isCounted = true;
      c.set('caller', buildCaller(service, kind));
      c.set('parameters', new Parameters(new URL(c.req.url).searchParams));
      await next();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      c.res = error.toResponse();
    }
    const counts = readings.get('calls.refused');
    const payer = kind ?? account.findKind(c.req.header('authorization') ?? null);
    if (REFUSALS.has(c.res.status) && payer !== null) {
      if (counts === 'always' && !isCounted) account.countCall(payer);
      if (counts === 'never' && isCounted) account.countCall(payer, -1);
    }
    setLimitHeaders(c.res.headers, service, kind);
  });
}

export function refuseKey(): ApiError {
  return new ApiError(401, 'The API key is missing, invalid or revoked.');
}

function takeCall({ account }: Service, kind: KeyKind): void {
  const { plan, usage } = account;
  const { ratePerSecond, apiCallsPerMonth } = plan.limits;
  const wait = account.limiter(kind).take();
  if (wait > 0) {
    throw refuseByLimit(429, plan, 'ratePerSecond', `More than ${ratePerSecond} requests per second.`, wait);
  }
  if (account.isPaymentOverdue) {
    const message = `A payment has been overdue for ${OVERDUE_DAYS} days or longer.`;
    throw refuseByLimit(402, plan, 'paymentOverdue', message);
  }
  if (isMetered(kind) && apiCallsPerMonth !== null && usage.apiCalls >= apiCallsPerMonth) {
    const message = `The month's allowance of ${countOf(apiCallsPerMonth, 'call')} is used up.`;
    throw refuseByLimit(429, plan, 'apiCallsPerMonth', message, account.secondsTo(usage.resetsAt));
  }
  account.countCall(kind);
}

/** The quota headers and the figure that each shows, keyed by the value of the `quotaHeaders` interpretation. */
const QUOTA_HEADERS: Record<ReadingValue<'quotaHeaders'>, Record<string, keyof ReturnType<typeof readQuotas>>> = {
  long: {
    'X-Quota-Api-Calls-Limit': 'callLimit',
    'X-Quota-Api-Calls-Remaining': 'callsLeft',
    'X-Quota-Export-Rows-Limit': 'rowLimit',
    'X-Quota-Export-Rows-Remaining': 'rowsLeft',
  },
  short: { 'X-Quota-Limit': 'callLimit', 'X-Quota-Remaining': 'callsLeft' },
  used: { 'X-Quota-Calls-Used': 'callsUsed', 'X-Quota-Rows-Used': 'rowsUsed' },
};

/** Returns the usage of the monthly quotas: null if unlimited, and 0 for a caller without a valid key. */
function readQuotas({ plan: { limits }, usage }: Account, kind: KeyKind | null) {
  const quota = (limit: number | null, used: number) => {
    if (kind === null) return { limit: 0, left: 0, used: 0 };
    if (limit === null || !isMetered(kind)) return { limit: null, left: null, used: null };
    return { limit, left: Math.max(0, limit - used), used: Math.min(limit, used) };
  };
  const calls = quota(limits.apiCallsPerMonth, usage.apiCalls);
  const rows = quota(limits.exportRowsPerMonth, usage.exportRows);
  return {
    ...{ callLimit: calls.limit, callsLeft: calls.left, callsUsed: calls.used },
    ...{ rowLimit: rows.limit, rowsLeft: rows.left, rowsUsed: rows.used },
  };
}

/** Sets the headers for rate and quotas. The API document defines only their prefixes (API §8). */
export function setLimitHeaders(headers: Headers, { account, readings }: Service, kind: KeyKind | null): void {
  const perSecond = account.plan.limits.ratePerSecond;
  const { resetsAt } = account.usage;
  const names = readings.get('quotaHeaders');
  const figures = readQuotas(account, kind);
  const quotas = Object.entries(QUOTA_HEADERS[names]).map(([name, figure]) => [name, figures[figure]] as const);
  const remaining = perSecond === null ? null : kind === null ? 0 : account.limiter(kind).remaining;
  const all = [['RateLimit-Limit', perSecond], ['RateLimit-Remaining', remaining], ['RateLimit-Reset', 1], ...quotas];
  for (const [name, value] of all as [string, number | null][]) if (value !== null) headers.set(name, String(value));
  headers.set('X-Quota-Reset', names === 'short' ? String(resetsAt.getTime() / 1000) : resetsAt.toISOString());
}
