import { countOf } from '../../formats/count.js';
import { type Html, html } from '../../formats/html.js';
import { drawChart } from '../chart.js';
import { rangesChart, sharesChart } from '../charts/ranges.js';
import { cutText, foreign, formatPercent } from '../format.js';
import { type Column, numberColumn, renderFigure, renderTable, type Section } from '../layout.js';
import { MOST_SHOPS, type ReportFacts } from '../read-facts.js';
import type { Shop } from '../rows.js';

const SHOPS_DRAWN = 16;
const ROWS_OPEN = 10;

/** Shows how often each shop is the cheapest, and its prices against the market. */
export async function shopsSection({ shops }: ReportFacts): Promise<Section> {
  const section = { id: 'shops', title: 'Shops' };
  if (shops.length === 0) return { ...section, body: html`<p>No shop sells a product that another one sells too.</p>` };
  const table = renderTable({
    caption:
      shops.length === MOST_SHOPS
        ? `The ${MOST_SHOPS} shops with the most compared products`
        : `${countOf(shops.length, 'shop')}, those with the most compared products first`,
    columns: COLUMNS,
    rows: shops,
    sorted: { by: 'Compared', order: 'descending' },
    fold: ROWS_OPEN,
    cards: true,
  });
  return {
    ...section,
    body: html`<p>Over the products that a shop shares with others: how often its price is the lowest, alone or with others,
and its price index, where 100 is the median price of each product.</p>
${await drawShops(shops)}
${table}`,
  };
}

/** Draws two charts of the same shops in the same order. */
async function drawShops(shops: readonly Shop[]): Promise<Html> {
  const drawn = shops.slice(0, SHOPS_DRAWN).sort((a, b) => a.price_index - b.price_index);
  const which =
    drawn.length < shops.length
      ? html`<p>The pictures show the ${drawn.length} shops with the most compared products, those with the lowest prices first.</p>`
      : '';
  const index = rangesChart(
    drawn.map((shop) => ({ name: nameOf(shop), low: shop.index_p25, middle: shop.price_index, high: shop.index_p75 })),
    {
      label: `Price index of ${countOf(drawn.length, 'shop')}, from ${describeEnds(drawn, ({ price_index }) => price_index.toFixed(1))}; the market is 100. The table has the figures.`,
      axisTitle: '100 is the market',
      reference: 100,
    },
  );
  const wins = sharesChart(
    drawn.map((shop) => ({ name: nameOf(shop), percent: shop.win_pct })),
    {
      label: `Win rate of the same shops, from ${describeEnds(drawn, ({ win_pct }) => formatPercent(win_pct))}. The table has the figures.`,
      axisTitle: '% of compared products',
    },
  );
  return html`${which}<div class="pair">${renderFigure('Price index', await drawChart(index), 'Mean and middle 50 %')}${renderFigure('Win rate', await drawChart(wins), 'How often the shop has the lowest price')}</div>`;
}

function describeEnds(shops: readonly Shop[], describe: (shop: Shop) => string): string {
  const ends = [shops[0], shops.at(-1)].flatMap((shop) => (shop === undefined ? [] : [shop]));
  return ends.map((shop) => `${cutText(nameOf(shop), 40)} at ${describe(shop)}`).join(' to ');
}

function nameOf({ shop, site_id }: Shop): string {
  return shop ?? `site ${site_id}`;
}

const COLUMNS: Column<Shop>[] = [
  {
    label: 'Shop',
    sortBy: (shop) => cutText(nameOf(shop), 60),
    cell: (shop) => html`${foreign(nameOf(shop), 80)} <small>${foreign(shop.host, 80)}</small>`,
  },
  numberColumn('Compared', ({ products }) => products),
  numberColumn('Cheapest', ({ cheapest }) => cheapest),
  numberColumn('Win rate', ({ win_pct }) => win_pct, formatPercent),
  numberColumn(
    'Price index',
    ({ price_index }) => price_index,
    (index) => index.toFixed(1),
  ),
  {
    label: 'Middle 50 %',
    numeric: true,
    cell: ({ index_p25, index_p75 }) => `${index_p25.toFixed(1)} – ${index_p75.toFixed(1)}`,
  },
];
