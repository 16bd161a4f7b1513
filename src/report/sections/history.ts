import { type Html, html } from '../../formats/html.js';
import { drawChart } from '../chart.js';
import { type PriceLine, priceLinesChart } from '../charts/price-lines.js';
import { countOf, cutText, foreign, formatCount, formatDay, formatPercent, link, money } from '../format.js';
import type { LakeFacts } from '../read-facts.js';
import { HISTORY_DAYS, OFFERS_SHOWN, type ProductHistory } from '../read-histories.js';
import type { Offer } from '../rows.js';
import { type Column, renderTable } from '../table.js';
import { renderFigure, type Section } from './section.js';

const DAY_MS = 86_400_000;

/** What the offers of some products have cost. */
export async function historySection({ histories, overview, selection }: LakeFacts): Promise<Section> {
  const section = { id: 'history', title: 'Price history' };
  const until = overview.newest_change;
  if (until === null) return { ...section, body: html`<p>The copy knows of no changes yet.</p>` };
  if (histories.length === 0) return { ...section, body: html`<p>There is no product to show.</p>` };
  const which = selection.products.length > 0 ? 'The products that were asked for' : 'Some of the widest spreads';
  const cards: Html[] = [];
  for (const history of histories) cards.push(await renderProduct(history, until));
  return {
    ...section,
    body: html`<p>${which}, at the end of each of the last ${HISTORY_DAYS} days up to the newest change. The strong line is the offer that is the cheapest now;
a gap is a time when an offer was not listed.</p>
<div class="products">${cards}</div>`,
  };
}

async function renderProduct(history: ProductHistory, until: Date): Promise<Html> {
  const { product, offers } = history;
  const title = product.title ?? product.product_id;
  const spread = product.spread_pct === null ? '' : html` · spread ${formatPercent(product.spread_pct)}`;
  const shown = Number(offers[0]?.offers ?? 0) > OFFERS_SHOWN ? `, the ${OFFERS_SHOWN} cheapest` : '';
  return html`<article>
<h3>${foreign(title, 120)}</h3>
<p class="about">${product.brand === null ? '' : html`${foreign(product.brand, 60)} · `}${foreign(product.product_id, 60)} · ${countOf(product.offers, 'offer')} in ${countOf(product.shops, 'shop')}${spread}</p>
${await drawLines(history, until)}
<details><summary>Offers in figures</summary>
${renderTable({ caption: `Offers of this product in ${product.currency}${shown}`, columns: offerColumns(history), rows: offers })}
</details>
</article>
`;
}

async function drawLines({ product, offers, runs }: ProductHistory, until: Date): Promise<Html> {
  if (runs.length === 0) return html`<p>No offer had a price in this time.</p>`;
  const cheapest = offers.find(({ price, is_listed }) => price !== null && is_listed);
  const lines: PriceLine[] = offers.map((offer) => ({
    runs: runs
      .filter(({ item_id }) => item_id === offer.item_id)
      .map(({ from_day, to_day, price }) => ({
        from: new Date(from_day),
        to: new Date(to_day),
        price: Number(price),
      })),
    isCheapest: offer === cheapest,
  }));
  const prices = runs.map(({ price }) => Number(price));
  const label =
    `Prices of ${countOf(offers.length, 'offer')} of ${cutText(product.title ?? product.product_id, 80)} over time, ` +
    `between ${formatCount(Math.min(...prices))} and ${formatCount(Math.max(...prices))} ${product.currency}. The table below has the figures.`;
  const end = Date.parse(until.toISOString().slice(0, 10)) + DAY_MS;
  const span = { from: new Date(end - HISTORY_DAYS * DAY_MS), to: new Date(end) };
  return renderFigure(`Prices in ${product.currency}`, await drawChart(priceLinesChart(lines, span, label)));
}

function offerColumns({ product, runs }: ProductHistory): Column<Offer>[] {
  const { currency } = product;
  const extreme = (offer: Offer, which: 'lowest' | 'highest') => {
    const run = runs.find(({ item_id }) => item_id === offer.item_id);
    return run === undefined ? '–' : money(run[which], currency);
  };
  return [
    { label: 'Shop', cell: ({ shop, url }) => link(url, foreign(shop, 60)) },
    {
      label: 'Price',
      numeric: true,
      cell: ({ price, is_listed, ended_at }) => {
        if (!is_listed) return html`gone ${ended_at === null ? '' : html`<small>${formatDay(ended_at)}</small>`}`;
        return price === null ? '–' : money(price, currency);
      },
    },
    { label: 'Lowest', numeric: true, cell: (offer) => extreme(offer, 'lowest') },
    { label: 'Highest', numeric: true, cell: (offer) => extreme(offer, 'highest') },
  ];
}
