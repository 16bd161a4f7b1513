import { countOf, formatCount } from '../../formats/count.js';
import { type Content, html } from '../../formats/html.js';
import { foreign, formatDay, formatPercent, listNames, money } from '../format.js';
import { type Column, renderTable, type Section } from '../layout.js';
import { MOST_WATCHED, type WatchedFacts } from '../read-facts.js';
import type { Watched } from '../rows.js';

const ROWS_OPEN = 15;
const MOST_NAMES = 5;
const NONE = html`<span class="none">–</span>`;

/** Shows the user's price list against the shops. */
export function watchSection({ lines, matched, below, undercut, rows }: WatchedFacts): Section {
  const shown =
    BigInt(rows.length) < lines ? ` The table has the ${MOST_WATCHED} that matter most; pricelake watch has all.` : '';
  const table = renderTable({
    id: 'watched',
    caption: `${countOf(rows.length, 'product')} of your list: those below your lowest allowed price first, then those with the widest gap`,
    columns: COLUMNS,
    rows,
    fold: ROWS_OPEN,
    cards: true,
  });
  return {
    id: 'watch',
    title: 'Your prices',
    body: html`<p>Shops sell ${formatCount(matched)} of the ${countOf(lines, 'product')} in your list. They are cheaper than you for ${formatCount(undercut)}, and below your lowest allowed price for ${formatCount(below)}.${shown}</p>
${table}`,
  };
}

const amount = (value: string | null, { currency }: Watched): Content =>
  value === null || currency === null ? (value ?? NONE) : money(value, currency);

const listShops = (names: readonly string[]) =>
  listNames(
    names.map((name) => foreign(name, 60)),
    MOST_NAMES,
  );

/** The price may be older than the first known change; then `isKnown` is false. */
function tellSince(at: Date | null, isKnown: boolean | null): Content {
  return at === null ? '' : html` <small>${isKnown === false ? 'since or before' : 'since'} ${formatDay(at)}</small>`;
}

const COLUMNS: Column<Watched>[] = [
  {
    label: 'Product',
    sortBy: ({ title, product }) => title ?? product,
    cell: ({ title, product, reason }) =>
      html`${foreign(title ?? product, 120)} <small>${foreign(title === null ? reason : product, 120)}</small>`,
  },
  { label: 'Your price', numeric: true, sortBy: ({ price }) => Number(price), cell: (row) => amount(row.price, row) },
  {
    label: 'Position',
    numeric: true,
    sortBy: ({ position }) => Number(position ?? 1_000_000n),
    cell: ({ position, shops }) =>
      position === null ? NONE : html`${formatCount(position)} <small>of ${formatCount(shops + 1n)}</small>`,
  },
  {
    label: 'Cheapest',
    numeric: true,
    named: true,
    sortBy: ({ cheapest }) => Number(cheapest ?? Number.MAX_SAFE_INTEGER),
    cell: (row) =>
      row.cheapest === null
        ? NONE
        : html`${amount(row.cheapest, row)} <small>${foreign(row.cheapest_shop, 60)}</small>`,
  },
  {
    label: 'Median',
    numeric: true,
    sortBy: ({ median }) => Number(median ?? 0),
    cell: (row) => amount(row.median, row),
  },
  {
    label: 'Gap',
    numeric: true,
    sortBy: ({ gap_pct }) => gap_pct ?? Number.NEGATIVE_INFINITY,
    cell: ({ gap_pct }) => (gap_pct === null ? NONE : formatPercent(gap_pct)),
  },
  {
    label: 'Cheaper than you',
    cell: ({ undercut_by, undercut_since, undercut_since_known }) =>
      undercut_by.length === 0
        ? NONE
        : html`${listShops(undercut_by)}${tellSince(undercut_since, undercut_since_known)}`,
  },
  {
    label: 'Below your lowest',
    cell: ({ below_now, below_first, below_since, below_since_known }) =>
      below_now.length === 0
        ? NONE
        : html`${listShops(below_now)} <small>first ${foreign(below_first, 60)}</small>${tellSince(below_since, below_since_known)}`,
  },
  {
    label: 'Changed',
    cell: ({ changes }) => (changes === null || changes.length === 0 ? NONE : foreign(changes.join('; '), 300)),
  },
];
