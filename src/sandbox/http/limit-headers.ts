import type { ReadingValue } from '../readings/registry.js';
import { isMetered, type KeyKind } from './account.js';
import type { Service } from './caller.js';

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

/** The headers that every answer carries. The document names their prefixes only (section 8); an unlimited quota has none. */
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
