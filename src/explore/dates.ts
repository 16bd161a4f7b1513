import { type Content, html } from '../formats/html.js';
import { formatDay } from './format.js';
import { renderDate } from './page.js';
import type { Question } from './question.js';

/** A period that the reader chose: from the start of the day `since` to the end of the day `until`. */
export interface Dates {
  since: string;
  /** The last day of the period; undefined if the period ends now. */
  until: string | undefined;
}

const NAMES = { since: 'date', until: 'until' } as const;

/** Reads a calendar day such as `2026-11-20` from a query parameter; undefined if the day is missing or invalid. */
function readDay(search: URLSearchParams, name: string): string | undefined {
  const given = search.get(name) ?? '';
  const isDay = /^\d{4}-\d\d-\d\d$/u.test(given) && !Number.isNaN(Date.parse(given));
  return isDay && new Date(given).toISOString().startsWith(given) ? given : undefined;
}

/** Reads the two days of a period from the address and sorts them; undefined if the first day is missing or invalid. */
export function readDates(search: URLSearchParams): Dates | undefined {
  const [since, until] = [readDay(search, NAMES.since), readDay(search, NAMES.until)];
  if (since === undefined) return undefined;
  return until !== undefined && until < since ? { since: until, until: since } : { since, until };
}

/** Reads the end of the period from the address, even if its start is missing. */
export const readUntil = (search: URLSearchParams): string | undefined => readDay(search, NAMES.until);

/** Renders the form fields for the first and the last day of the period. */
export const renderDates = (search: URLSearchParams, label: string): Content[] => [
  html`<span class="pair">${renderDate(NAMES.since, label, search.get(NAMES.since) ?? '')}${renderDate(NAMES.until, 'to', search.get(NAMES.until) ?? '')}</span>`,
];

/** Returns the period as variables of asked_moments.sql. */
export const toMoments = ({ since, until }: Dates): Question['set'] => ({ since, until: until ?? '' });

/** Names a moment: `the end of 20 Nov 2026`. */
export const nameDay = (day: string, part: 'the beginning' | 'the end'): string =>
  `${part} of ${formatDay(new Date(day))}`;

/** Names a period: `from the beginning of 18 Nov 2026 to now`. */
export const nameDates = ({ since, until }: Dates): string =>
  `from ${nameDay(since, 'the beginning')} to ${until === undefined ? 'now' : nameDay(until, 'the end')}`;

/** Returns column headings for the start and the end of the period. */
export const nameEnds = ({ since, until }: Dates): [first: string, last: string] => [
  `Start of ${formatDay(new Date(since))}`,
  until === undefined ? 'Now' : `End of ${formatDay(new Date(until))}`,
];
