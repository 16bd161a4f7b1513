import type { Content } from '../formats/html.js';
import { formatDay } from './format.js';
import { renderDate } from './page.js';
import type { Question } from './question.js';

/** Two days of an address: from the beginning of the first to the end of the last. */
export interface Dates {
  since: string;
  /** Undefined for now. */
  until: string | undefined;
}

const NAMES = { since: 'date', until: 'until' } as const;

/** A day of the calendar as an address has it; undefined for any other text. */
function readDay(search: URLSearchParams, name: string): string | undefined {
  const given = search.get(name) ?? '';
  const isDay = /^\d{4}-\d\d-\d\d$/u.test(given) && !Number.isNaN(Date.parse(given));
  return isDay && new Date(given).toISOString().startsWith(given) ? given : undefined;
}

/** The days of an address in their order; undefined if it has no first one. */
export function readDates(search: URLSearchParams): Dates | undefined {
  const [since, until] = [readDay(search, NAMES.since), readDay(search, NAMES.until)];
  if (since === undefined) return undefined;
  return until !== undefined && until < since ? { since: until, until: since } : { since, until };
}

/** The last day of an address that has one. */
export const readUntil = (search: URLSearchParams): string | undefined => readDay(search, NAMES.until);

/** Fields for both days, part of a form. */
export const renderDates = (search: URLSearchParams, label: string): Content[] => [
  renderDate(NAMES.since, label, search.get(NAMES.since) ?? ''),
  renderDate(NAMES.until, 'to', search.get(NAMES.until) ?? ''),
];

/** Variables of asked_moments.sql. */
export const toMoments = ({ since, until }: Dates): Question['set'] => ({ since, until: until ?? '' });

/** `the end of 20 Nov 2026` */
export const nameDay = (day: string, part: 'the beginning' | 'the end'): string =>
  `${part} of ${formatDay(new Date(day))}`;

/** `from the beginning of 18 Nov 2026 to now` */
export const nameDates = ({ since, until }: Dates): string =>
  `from ${nameDay(since, 'the beginning')} to ${until === undefined ? 'now' : nameDay(until, 'the end')}`;

/** The two moments as heads of columns. */
export const nameEnds = ({ since, until }: Dates): [first: string, last: string] => [
  `Start of ${formatDay(new Date(since))}`,
  until === undefined ? 'Now' : `End of ${formatDay(new Date(until))}`,
];
