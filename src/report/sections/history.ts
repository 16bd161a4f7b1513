import { countOf, formatCount } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { drawPriceLines, MOST_LINES } from '../charts/price-lines.js';
import { cutText, foreign, formatDay, formatMoney, formatPercent, link, money } from '../format.js';
import { type Column, renderTable, type Section } from '../layout.js';
import type { ReportFacts } from '../read-facts.js';
import { HISTORY_DAYS, OFFERS_SHOWN, type ProductHistory } from '../read-histories.js';
import type { Offer } from '../rows.js';

const DAY_MS = 86_400_000;

/** Shows products one by one: their offers, reasons to leave some out, and past prices. */
export function historySection({ histories, overview, summary }: ReportFacts): Section {
  const section = { id: 'history', title: 'Products' };
  if (histories.length === 0) return { ...section, body: html`<p>There is no product to show.</p>` };
  const until = overview.newest_change;
  const asked = histories.filter(({ isAsked }) => isAsked).length;
  const which = asked === 0 ? '' : `${countOf(asked, 'product')} asked for by name, and `;
  return {
    ...section,
    body: html`<p>${which}${countOf(histories.length - asked, 'product')} of the table of the widest spreads, of ${formatCount(summary.spreads)} that can be compared.
${until === null ? 'The copy knows of no changes yet.' : `Prices are those at the end of each of the last ${HISTORY_DAYS} days up to the newest change; a gap is a time when an offer was not listed.`}</p>
<div class="products">${histories.map((history, k) => renderProduct(history, k, until))}</div>`,
  };
}

/** Id of a product's part of the page; the table of the widest spreads links to it. */
export function productId(place: number): string {
  return `p-${place + 1}`;
}

function renderProduct(history: ProductHistory, place: number, until: Date | null): Html {
  const { product, offers, isAsked } = history;
  const { title, product_id, brand, grade, grade_reason, spread_pct, currency } = product;
  const shown = Number(offers[0]?.offers ?? 0) > OFFERS_SHOWN ? `, the ${OFFERS_SHOWN} cheapest` : '';
  const spread = spread_pct === null ? '' : html` · ${formatPercent(spread_pct)}`;
  return html`<details class="product" id="${productId(place)}"${isAsked ? html` open=""` : ''}>
<summary>${foreign(title ?? product_id, 120)} <small>${currency}${spread}</small></summary>
<p class="about">${brand === null ? '' : html`${foreign(brand, 60)} · `}${foreign(product_id, 60)} · ${countOf(product.offers, 'offer')} in ${countOf(product.shops, 'shop')}${
    grade === null ? '' : html` · grade ${grade}: ${foreign(grade_reason, 120)}`
  }</p>
${describePlace(history)}
${describeBest(history)}
${until === null ? '' : drawLines(history, until)}
${renderTable({ caption: `Offers of this product in ${currency}${shown}`, columns: offerColumns(history), rows: offers, cards: true })}
</details>
`;
}

/** Places today's lowest price between the lowest and the highest of the days shown. */
function describePlace({ product, offers, runs }: ProductHistory): Content {
  const [cheapest] = offers.filter(
    ({ is_listed, price, is_counted }) => is_listed && price !== null && is_counted !== false,
  );
  const own = runs.filter(({ item_id }) =>
    offers.some((offer) => offer.item_id === item_id && offer.is_counted !== false),
  );
  if (cheapest?.price == null || own.length === 0) return '';
  const prices = own.map(({ price }) => price).sort((a, b) => Number(a) - Number(b));
  const [low = cheapest.price, high = cheapest.price] = [prices[0], prices.at(-1)];
  return html`<p>Today from <strong>${money(cheapest.price, product.currency)}</strong>: ${describeRange(cheapest.price, low, high)} of all prices of ${HISTORY_DAYS} days, ${formatMoney(low)} to ${formatMoney(high)}.</p>`;
}

/** Tells the cheapest offer in stock, and the cheapest with its delivery. */
function describeBest({ product, offers }: ProductHistory): Content {
  const counted = offers.filter(({ is_listed, is_counted }) => is_listed && is_counted === true);
  const shopOf = ({ shop, site_id }: Offer) => foreign(shop ?? `site ${site_id}`, 60);
  const inStock = counted.find(({ availability }) => availability === 'in stock');
  const [delivered] = counted
    .filter(({ delivered_price }) => delivered_price !== null)
    .sort((a, b) => Number(a.delivered_price) - Number(b.delivered_price));
  const parts = [
    inStock?.price == null
      ? []
      : html`Cheapest in stock of the offers below: <strong>${money(inStock.price, product.currency)}</strong> at ${shopOf(inStock)}. `,
    delivered?.delivered_price == null
      ? []
      : html`Cheapest delivered of the offers below: <strong>${money(delivered.delivered_price, product.currency)}</strong> by ${shopOf(delivered)}.`,
  ];
  return parts.flat().length === 0 ? '' : html`<p>${parts}</p>`;
}

function describeRange(price: string, low: string, high: string): string {
  const share = (Number(price) - Number(low)) / (Number(high) - Number(low));
  if (!(share > 0)) return 'the lowest';
  if (share >= 1) return 'the highest';
  return `${Math.round(100 * share)} % of the way from the lowest to the highest`;
}

function drawLines({ product, offers, runs }: ProductHistory, until: Date): Html {
  if (runs.length === 0) return html`<p>No offer had a price in this time.</p>`;
  const lines = offers.map((offer) => ({
    name: offer.shop ?? `site ${offer.site_id}`,
    runs: runs
      .filter(({ item_id }) => item_id === offer.item_id)
      .map(({ from_day, to_day, price }) => ({ from: new Date(from_day), to: new Date(to_day), price: Number(price) })),
    isCounted: offer.is_counted !== false,
  }));
  // A price that is a hundred times too high would flatten all others.
  const counted = lines.filter(({ isCounted, runs }) => isCounted && runs.length > 0);
  const drawn = counted.length > 0 ? counted : lines;
  const prices = drawn.flatMap((line) => line.runs.map(({ price }) => price));
  if (prices.length === 0) return html`<p>No offer that counts had a price in this time.</p>`;
  const label =
    `Prices of ${countOf(drawn.length, 'offer')} of ${cutText(product.title ?? product.product_id, 80)} over time, ` +
    `between ${formatMoney(Math.min(...prices).toFixed(4))} and ${formatMoney(Math.max(...prices).toFixed(4))} ${product.currency}. The table below has the figures.`;
  const end = Date.parse(until.toISOString().slice(0, 10)) + DAY_MS;
  const span = { from: new Date(end - HISTORY_DAYS * DAY_MS), to: new Date(end) };
  const left = lines.filter((line) => line.runs.length > 0).length - Math.min(drawn.length, MOST_LINES);
  return html`<figure class="wide">${drawPriceLines(drawn, span, label)}<figcaption>Prices in ${product.currency}${left > 0 ? `; ${countOf(left, 'offer')} not drawn` : ''}</figcaption></figure>`;
}

function offerColumns({ product, offers, runs }: ProductHistory): Column<Offer>[] {
  const { currency } = product;
  const runOf = (offer: Offer) => runs.find(({ item_id }) => item_id === offer.item_id);
  const columns: Column<Offer>[] = [
    { label: 'Shop', cell: ({ shop, site_id, url }) => link(url, foreign(shop ?? `site ${site_id}`, 60)) },
    {
      label: 'Price',
      numeric: true,
      cell: ({ price, is_listed, ended_at }) => {
        if (!is_listed) return html`gone ${ended_at === null ? '' : html`<small>${formatDay(ended_at)}</small>`}`;
        return price === null ? '–' : money(price, currency);
      },
    },
  ];
  if (offers.some(({ unit_price }) => unit_price !== null)) {
    columns.push({
      label: 'Per unit',
      numeric: true,
      cell: ({ unit_price, unit }) =>
        unit_price === null ? '–' : html`${formatMoney(Number(unit_price).toFixed(2))} <small>per ${unit}</small>`,
    });
  }
  if (offers.some(({ delivered_price }) => delivered_price !== null)) {
    columns.push({
      label: 'Delivered',
      numeric: true,
      cell: ({ delivered_price }) => (delivered_price === null ? '–' : money(delivered_price, currency)),
    });
  }
  if (offers.some(({ availability }) => availability !== null)) {
    columns.push({ label: 'Availability', cell: ({ availability }) => availability ?? '–' });
  }
  if (offers.some(({ reason }) => reason !== null)) {
    columns.push({ label: 'Left out because', cell: ({ reason }) => (reason === null ? '' : foreign(reason, 120)) });
  }
  const extreme = (offer: Offer, which: 'lowest' | 'highest') => {
    const run = runOf(offer);
    return run === undefined ? '–' : money(run[which], currency);
  };
  return [
    ...columns,
    { label: 'Lowest', numeric: true, cell: (offer) => extreme(offer, 'lowest') },
    { label: 'Highest', numeric: true, cell: (offer) => extreme(offer, 'highest') },
    {
      label: 'Today in this range',
      cell: (offer) => {
        const run = runOf(offer);
        if (run === undefined || offer.price === null || !offer.is_listed) return '–';
        return run.lowest === run.highest ? 'unchanged' : describeRange(offer.price, run.lowest, run.highest);
      },
    },
  ];
}
