import type { DuckDBValue } from '@duckdb/node-api';
import { describeMoment } from '../moves.js';
import { toDate } from '../values.js';

/** The moments with which the Today page can compare current prices. */
export const SINCE = [
  { value: 'run', label: 'the run before' },
  { value: 'day', label: 'a day ago' },
  { value: 'week', label: 'a week ago' },
];

/** Returns the given text if it is one of the choices, a run number or a time. Otherwise returns the first choice. */
export function readSince(given: string, choices: typeof SINCE): string {
  const isMoment = /^\d{1,9}$/u.test(given) || (/^\d{4}-/u.test(given) && !Number.isNaN(Date.parse(given)));
  return isMoment || choices.some(({ value }) => value === given) ? given : (choices[0]?.value ?? 'day');
}

/** Describes a moment in plain language. */
export function nameSince(since: string): string {
  if (since === '0') return 'the beginning';
  return /^\d+$/u.test(since) ? `run ${since}` : (SINCE.find(({ value }) => value === since)?.label ?? since);
}

/** Returns the variables of movers.sql that select the moment to compare with. */
export function chooseMoment(since: string, run: bigint | undefined, newest: DuckDBValue): Record<string, string> {
  if (/^\d+$/u.test(since)) return { since_run: since };
  if (since.includes('-')) return { since };
  return describeMoment(since === 'day' || since === 'week' ? since : 'run', run, toDate(newest));
}
