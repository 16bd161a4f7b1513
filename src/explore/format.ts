import { formatCount } from '../formats/count.js';
import { type Content, type Html, html, stripControls } from '../formats/html.js';

const MOMENT = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'UTC',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});
const DAY = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' });

/** Shortens `Sept`, the abbreviation in en-GB, to `Sep`, the abbreviation that DuckDB and Vega use. */
export const shortenMonth = (date: string): string => date.replace('Sept', 'Sep');

/** Formats an exact decimal such as `1,234.50`. Shows more than two decimals only if the amount has them. */
export function formatMoney(decimal: string): string {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d*?)0*)?$/u.exec(decimal) ?? [];
  return `${sign}${formatCount(BigInt(whole))}.${fraction.padEnd(2, '0')}`;
}

export function money(decimal: string, currency: string): Html {
  return html`<span class="money">${formatMoney(decimal)} <small>${currency}</small></span>`;
}

/** Removes the last two decimals of amounts if they are zeros, because amounts have four decimals in the lake. */
export const trimCents = (text: string): string => text.replaceAll(/(\d\.\d\d)00\b/gu, '$1');

/** Formats a percentage such as `17.8 %`. Percentages of 1,000 % or more have no decimals. */
export function formatPercent(percent: number): string {
  const digits = Math.abs(percent) >= 1000 ? 0 : 1;
  return `${percent.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}\u00a0%`;
}

/** Formats a difference such as `+17.8 %`, `+1.5 points` or `-3`; `no change` if it rounds to zero. */
export function formatDifference(difference: number, unit: '%' | 'points' | ''): string {
  const rounded = unit === '' ? Math.round(difference) : Math.round(difference * 10) / 10;
  if (rounded === 0) return 'no change';
  const size =
    unit === '%' ? formatPercent(rounded) : unit === '' ? formatCount(rounded) : `${rounded.toFixed(1)}\u00a0points`;
  return rounded > 0 ? `+${size}` : size;
}

/** Renders an instant such as `20 Nov 2026, 19:07` in UTC. The page's script converts it to the reader's time zone. */
export function moment(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${shortenMonth(MOMENT.format(at))}</time>`;
}

/** Renders the UTC day of an instant, such as `20 Nov 2026`, in a `time` element. */
export function dayOf(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${formatDay(at)}</time>`;
}

/** Formats the UTC day of an instant, such as `20 Nov 2026`. */
export function formatDay(at: Date): string {
  return shortenMonth(DAY.format(at));
}

/** Formats a duration, such as `45 s`, `12 min`, `3 h 20 min` or `4 days`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`;
  return `${formatCount(Math.round(minutes / 1440))} days`;
}

/** Removes control characters, collapses white space, and truncates the text to at most `longest` characters. */
export function cutText(text: string, longest: number): string {
  const clean = stripControls(text).replace(/\s+/gu, ' ').trim();
  const characters = [...clean];
  return characters.length <= longest
    ? clean
    : `${characters
        .slice(0, longest - 1)
        .join('')
        .trimEnd()}…`;
}

/**
 * Shortens names and keeps different names different. Removes the words that all names start with or, if there are
 * none, cuts each name in the middle. Adds a number if two names still look the same.
 */
export function shortenNames(names: readonly string[], longest: number): string[] {
  const clean = names.map((name) => cutText(name, 1000));
  if (clean.every((name) => [...name].length <= longest)) return clean;
  const shared = findSharedWords([...new Set(clean)]);
  const shown = new Map<string, string>();
  for (const name of clean) {
    if (shown.has(name)) continue;
    const cut = cutMiddle(shared === '' ? name : `…${name.slice(shared.length)}`, longest);
    const taken = new Set(shown.values());
    let label = cut;
    for (let n = 2; taken.has(label); n++) label = `${cutMiddle(cut, longest - 1 - String(n).length)} ${n}`;
    shown.set(name, label);
  }
  return clean.map((name) => shown.get(name) ?? name);
}

/** Returns the whole words with which all names start, with the space after them; empty if the names share no words. */
function findSharedWords([first = '', ...otherNames]: readonly string[]): string {
  if (otherNames.length === 0) return '';
  const words = first.split(/(?<= )/u).slice(0, -1);
  for (let n = words.length; n > 0; n--) {
    const begin = words.slice(0, n).join('');
    if (otherNames.every((name) => name.startsWith(begin) && name.length > begin.length)) return begin;
  }
  return '';
}

function cutMiddle(text: string, longest: number): string {
  const characters = [...text];
  if (characters.length <= longest) return text;
  const end = Math.floor((longest - 1) / 2);
  const [left, right] = [characters.slice(0, longest - 1 - end), characters.slice(characters.length - end)];
  return `${left.join('').trimEnd()}…${right.join('').trimStart()}`;
}

/** Truncates text from the service, and isolates its writing direction from the page. Renders null as a dash. */
export function foreign(text: string | null, longest = 160): Html {
  const cut = text === null ? '' : cutText(text, longest);
  return cut === '' ? html`<span class="none">–</span>` : html`<bdi>${cut}</bdi>`;
}

/** Links to an http or https address. Returns only the text if the address is invalid or has credentials. */
export function link(url: string | null, text: Content): Content {
  const target = url === null ? undefined : parseWebAddress(url);
  if (target === undefined) return text;
  return html`<a href="${target}" rel="noopener noreferrer nofollow external">${text}</a>`;
}

function parseWebAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
  return isWeb && url.username === '' && url.password === '' && text.length <= 2000 ? url.href : undefined;
}
