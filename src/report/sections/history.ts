import { type Html, html } from '../../html.js';
import { drawChart } from '../chart.js';
import { type PriceLine, priceLinesChart } from '../charts/price-lines.js';
import { countOf, cutText, foreign, formatCount, formatDay, formatPercent, link, money } from '../format.js';
import { HISTORY_DAYS, type LakeFacts, OFFERS_SHOWN, type ProductHistory } from '../read-facts.js';
import type { Offer, PriceStep } from '../rows.js';
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
    body: html`<p>${which}, over the last ${HISTORY_DAYS} days up to the newest change. The strong line is the offer that is the cheapest now;
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

async function drawLines({ product, offers, steps }: ProductHistory, until: Date): Promise<Html> {
  const prices = steps.flatMap(({ price }) => price ?? []);
  if (prices.length === 0) return html`<p>No offer had a price in this time.</p>`;
  const cheapest = offers.find(({ price, is_listed }) => price !== null && is_listed);
  const lines: PriceLine[] = offers.map((offer) => ({
    steps: stepsOf(offer, steps).map(({ observed_at, price }) => ({ at: observed_at, price })),
    until,
    isCheapest: offer === cheapest,
  }));
  const label =
    `Prices of ${countOf(offers.length, 'offer')} of ${cutText(product.title ?? product.product_id, 80)} over time, ` +
    `between ${formatCount(Math.min(...prices))} and ${formatCount(Math.max(...prices))} ${product.currency}. The table below has the figures.`;
  const from = new Date(until.getTime() - HISTORY_DAYS * DAY_MS);
  return renderFigure(
    `Prices in ${product.currency}`,
    await drawChart(priceLinesChart(lines, { from, to: until }, label)),
  );
}

function offerColumns({ product, steps }: ProductHistory): Column<Offer>[] {
  const { currency } = product;
  const extreme = (offer: Offer, pick: (...prices: number[]) => number) => {
    const prices = stepsOf(offer, steps).flatMap(({ price }) => price ?? []);
    return prices.length === 0 ? '–' : money(pick(...prices).toFixed(4), currency);
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
    { label: 'Lowest', numeric: true, cell: (offer) => extreme(offer, Math.min) },
    { label: 'Highest', numeric: true, cell: (offer) => extreme(offer, Math.max) },
  ];
}

function stepsOf(offer: Offer, steps: readonly PriceStep[]): PriceStep[] {
  return steps.filter(({ item_id }) => item_id === offer.item_id);
}
