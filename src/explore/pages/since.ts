import type { DuckDBValue } from '@duckdb/node-api';
import { describeMoment } from '../moves.js';
import { toDate } from '../values.js';

/** Moments since which Today tells what moved. */
export const SINCE = [
  { value: 'run', label: 'the run before' },
  { value: 'day', label: 'a day ago' },
  { value: 'week', label: 'a week ago' },
];

/** Reads the moment: one of the choices, the number of a run, or a time in UTC. Any other text means the first choice. */
export function readSince(given: string, choices: typeof SINCE): string {
  const isMoment = /^\d{1,9}$/u.test(given) || (/^\d{4}-/u.test(given) && !Number.isNaN(Date.parse(given)));
  return isMoment || choices.some(({ value }) => value === given) ? given : (choices[0]?.value ?? 'day');
}

/** A moment in words. */
export function nameSince(since: string): string {
  if (since === '0') return 'the beginning';
  return /^\d+$/u.test(since) ? `run ${since}` : (SINCE.find(({ value }) => value === since)?.label ?? since);
}

/** The variables of movers.sql for a moment. */
export function chooseMoment(since: string, run: bigint | undefined, newest: DuckDBValue): Record<string, string> {
  if (/^\d+$/u.test(since)) return { since_run: since };
  if (since.includes('-')) return { since };
  return describeMoment(since === 'day' || since === 'week' ? since : 'run', run, toDate(newest));
}
