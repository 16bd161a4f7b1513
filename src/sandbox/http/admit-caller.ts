import { createMiddleware } from 'hono/factory';
import { OVERDUE_DAYS } from '../plans.js';
import type { ReadingValue } from '../readings/registry.js';
import { isMetered, type KeyKind } from './account.js';
import { ApiError, refuseByLimit } from './answers.js';
import { buildCaller, type SandboxEnv, type Service } from './caller.js';
import { Parameters } from './parameters.js';

/** Reading `calls.refused` says whether these count. */
const REFUSALS = new Set([401, 402, 429]);

/**
 * Checks key, rate, payment and the month's calls, in this order (sections 5 and 7), and sets the headers of every
 * answer.
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
    const message = `The month's ${apiCallsPerMonth} calls are used up.`;
    throw refuseByLimit(429, plan, 'apiCallsPerMonth', message, account.secondsTo(usage.resetsAt));
  }
  account.countCall(kind);
}

interface QuotaNames {
  callLimit?: string;
  callsLeft?: string;
  callsUsed?: string;
  rowLimit?: string;
  rowsLeft?: string;
  rowsUsed?: string;
  isUnixReset?: true;
}

const NAMES: Record<ReadingValue<'quotaHeaders'>, QuotaNames> = {
  long: {
    callLimit: 'X-Quota-Api-Calls-Limit',
    callsLeft: 'X-Quota-Api-Calls-Remaining',
    rowLimit: 'X-Quota-Export-Rows-Limit',
    rowsLeft: 'X-Quota-Export-Rows-Remaining',
  },
  short: { callLimit: 'X-Quota-Limit', callsLeft: 'X-Quota-Remaining', isUnixReset: true },
  used: { callsUsed: 'X-Quota-Calls-Used', rowsUsed: 'X-Quota-Rows-Used' },
};

/** Every answer carries these. The document names only their prefixes (section 8). An unlimited quota has none. */
export function setLimitHeaders(headers: Headers, { account, readings }: Service, kind: KeyKind | null): void {
  const { limits } = account.plan;
  const { apiCalls, exportRows, resetsAt } = account.usage;
  const set = (name: string | undefined, value: number | null) =>
    name !== undefined && value !== null && headers.set(name, String(value));
  set('RateLimit-Limit', limits.ratePerSecond);
  set(
    'RateLimit-Remaining',
    limits.ratePerSecond === null ? null : kind === null ? 0 : account.limiter(kind).remaining,
  );
  set('RateLimit-Reset', 1);
  const quota = (limit: number | null, used: number) => {
    if (kind === null) return { limit: 0, left: 0 };
    return limit === null || !isMetered(kind) ? null : { limit, left: Math.max(0, limit - used) };
  };
  const calls = quota(limits.apiCallsPerMonth, apiCalls);
  const rows = quota(limits.exportRowsPerMonth, exportRows);
  const names = NAMES[readings.get('quotaHeaders')];
  set(names.callLimit, calls?.limit ?? null);
  set(names.callsLeft, calls?.left ?? null);
  set(names.callsUsed, calls && calls.limit - calls.left);
  set(names.rowLimit, rows?.limit ?? null);
  set(names.rowsLeft, rows?.left ?? null);
  set(names.rowsUsed, rows && rows.limit - rows.left);
  headers.set('X-Quota-Reset', names.isUnixReset ? String(resetsAt.getTime() / 1000) : resetsAt.toISOString());
}
