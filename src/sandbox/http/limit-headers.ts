import { type Account, isMetered, type KeyKind } from './account.js';

/** The headers that every answer carries. The document names their prefixes only (section 8); an unlimited quota has none. */
export function setLimitHeaders(headers: Headers, account: Account, kind: KeyKind | null): void {
  const { limits } = account.plan;
  const { apiCalls, exportRows, resetsAt } = account.usage;
  const set = (name: string, value: number | null) => value !== null && headers.set(name, String(value));
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
  set('X-Quota-Api-Calls-Limit', calls?.limit ?? null);
  set('X-Quota-Api-Calls-Remaining', calls?.left ?? null);
  set('X-Quota-Export-Rows-Limit', rows?.limit ?? null);
  set('X-Quota-Export-Rows-Remaining', rows?.left ?? null);
  headers.set('X-Quota-Reset', resetsAt.toISOString());
}
