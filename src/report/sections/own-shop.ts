import { countOf, formatCount } from '../../formats/count.js';
import { html } from '../../formats/html.js';
import { foreign, formatDay, link, money } from '../format.js';
import { type Column, numberColumn, renderTable, type Section } from '../layout.js';
import type { Breach, Gap } from '../move-rows.js';
import type { BreachFacts, GapFacts } from '../read-moves.js';

const ROWS_OPEN = 12;
const NONE = html`<span class="none">–</span>`;

/** Shows every time that a shop was below a lowest allowed price. */
export function complianceSection({ breaches, now, shops, rows }: BreachFacts): Section {
  const section = { id: 'compliance', title: 'Below your lowest prices' };
  if (breaches === 0n) {
    return {
      ...section,
      body: html`<p>No shop is or was below a lowest allowed price of your list, as far as the lake knows.</p>`,
    };
  }
  const left =
    BigInt(rows.length) < breaches
      ? ` The table has the latest ${formatCount(rows.length)}; pricelake watch --compliance has all.`
      : '';
  const table = renderTable({
    caption: 'Those that last first, then the latest; past prices are compared with your lowest of today',
    columns: BREACH_COLUMNS,
    rows,
    fold: ROWS_OPEN,
    cards: true,
    data: ({ currency }) => (currency === null ? {} : { currency }),
  });
  return {
    ...section,
    body: html`<p>${countOf(shops, 'shop')} went below your lowest prices ${countOf(breaches, 'time')}. ${now === 0n ? 'None of them is below now.' : `${formatCount(now)} of these ${now === 1n ? 'lasts' : 'last'}.`}${left}</p>\n${table}`,
  };
}

const BREACH_COLUMNS: Column<Breach>[] = [
  {
    label: 'Product',
    sortBy: ({ title, product }) => title ?? product,
    cell: ({ title, product }) => html`${foreign(title ?? product, 120)} <small>${foreign(product, 60)}</small>`,
  },
  {
    label: 'Shop',
    sortBy: ({ shop }) => shop,
    cell: ({ shop, place, first_shop }) =>
      html`${foreign(shop, 60)} <small>${place === 1n ? 'first' : html`after ${foreign(first_shop, 60)}`}</small>`,
  },
  {
    label: 'From',
    sortBy: ({ from_at }) => from_at?.toISOString() ?? '',
    cell: ({ from_at, from_known }) =>
      from_at === null
        ? NONE
        : html`${formatDay(from_at)}${from_known === false ? html` <small>or before</small>` : ''}`,
  },
  {
    label: 'To',
    sortBy: ({ to_at }) => to_at?.toISOString() ?? '9999',
    cell: ({ to_at, is_now }) => (is_now || to_at === null ? html`<strong>now</strong>` : formatDay(to_at)),
  },
  {
    label: 'Days',
    numeric: true,
    sortBy: ({ days }) => days ?? 0,
    cell: ({ days }) => (days === null ? NONE : days.toFixed(1)),
  },
  {
    label: 'Allowed',
    numeric: true,
    sortBy: ({ allowed }) => Number(allowed),
    cell: ({ allowed, currency }) => (currency === null ? allowed : money(allowed, currency)),
  },
  {
    label: 'Lowest price',
    numeric: true,
    sortBy: ({ lowest_price }) => Number(lowest_price),
    cell: ({ lowest_price, currency, url }) =>
      link(url, currency === null ? lowest_price : money(lowest_price, currency)),
  },
  {
    label: 'Below by',
    numeric: true,
    sortBy: ({ below }) => Number(below),
    cell: ({ below, currency }) => (currency === null ? below : money(below, currency)),
  },
  { label: 'Change', numeric: true, cell: ({ change_id }) => (change_id === null ? NONE : String(change_id)) },
];

/** Shows what other shops sell and the user's does not. */
export function gapsSection({ shop, gaps, minShops, rows }: GapFacts): Section {
  const section = { id: 'gaps', title: 'What you don’t sell' };
  const others = `${formatCount(minShops)} or more other shops`;
  if (gaps === 0n) {
    return { ...section, body: html`<p>${foreign(shop, 80)} lists every product that ${others} sell.</p>` };
  }
  const left = BigInt(rows.length) < gaps ? ` The table has the ${formatCount(rows.length)} that most shops sell.` : '';
  const table = renderTable({
    caption: 'Products that most shops sell first',
    columns: GAP_COLUMNS,
    rows,
    fold: ROWS_OPEN,
    cards: true,
    data: ({ currency }) => ({ currency }),
  });
  return {
    ...section,
    body: html`<p>${foreign(shop, 80)} does not list ${countOf(gaps, 'product')} that ${others} sell in one currency.${left}</p>\n${table}`,
  };
}

const GAP_COLUMNS: Column<Gap>[] = [
  {
    label: 'Product',
    sortBy: ({ title, product_id }) => title ?? product_id,
    cell: ({ title, product_id }) =>
      html`${foreign(title ?? product_id, 120)} <small>${foreign(product_id, 60)}</small>`,
  },
  {
    label: 'Category',
    sortBy: ({ category_name }) => category_name ?? '',
    cell: ({ category_name }) => foreign(category_name, 60),
  },
  numberColumn('Shops', ({ shops }) => shops),
  {
    label: 'Lowest',
    numeric: true,
    named: true,
    sortBy: ({ lowest }) => Number(lowest),
    cell: ({ lowest, lowest_shop, currency }) =>
      html`${money(lowest, currency)} <small>${foreign(lowest_shop, 60)}</small>`,
  },
  {
    label: 'Median',
    numeric: true,
    sortBy: ({ median }) => Number(median),
    cell: ({ median, currency }) => money(median, currency),
  },
  {
    label: 'Highest',
    numeric: true,
    sortBy: ({ highest }) => Number(highest),
    cell: ({ highest, currency }) => money(highest, currency),
  },
  {
    label: 'Widely sold since',
    sortBy: ({ sold_widely_at }) => sold_widely_at?.toISOString() ?? '',
    cell: ({ sold_widely_at }) => (sold_widely_at === null ? NONE : formatDay(sold_widely_at)),
  },
  {
    label: 'You sold it until',
    sortBy: ({ own_ended_at }) => own_ended_at?.toISOString() ?? '',
    cell: ({ own_ended_at }) => (own_ended_at === null ? NONE : formatDay(own_ended_at)),
  },
];
