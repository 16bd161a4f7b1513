import { type Content, type Html, html } from '../../formats/html.js';
import { drawChart } from '../chart.js';
import { histogramChart } from '../charts/histogram.js';
import { rangesChart } from '../charts/ranges.js';
import { spreadDaysChart } from '../charts/spread-days.js';
import { countOf, cutText, foreign, formatCount, formatPercent, money } from '../format.js';
import type { LakeFacts } from '../read-facts.js';
import type { Category, Spread } from '../rows.js';
import { type Column, renderTable } from '../table.js';
import { renderFigure, renderFigures, type Section } from './section.js';

const CATEGORIES_DRAWN = 12;
const ROWS_OPEN = 15;

/** How much the prices of one product differ: all of them, by category, and the widest. */
export async function spreadSection(facts: LakeFacts): Promise<Section> {
  const { summary, histogram, days, categories, selection } = facts;
  const scope = selection.currency === undefined ? 'one currency' : selection.currency;
  if (summary.spreads === 0n) {
    return { id: 'spread', title: 'Price spread', body: html`<p>No product is sold by two shops in ${scope}.</p>` };
  }
  const body: Content[] = [
    html`<p>The spread of a product is how much more its most expensive offer costs than its cheapest, in percent of the cheapest;
here for products that two or more shops sell in ${scope}. ${explainOutliers(summary.with_outliers)}</p>`,
    renderFigures([
      { name: 'Compared', value: formatCount(summary.spreads), note: 'products, per currency' },
      ...(summary.median_pct === null
        ? []
        : [{ name: 'Half spread more than', value: formatPercent(summary.median_pct) }]),
      ...(summary.p90_pct === null ? [] : [{ name: 'One in ten more than', value: formatPercent(summary.p90_pct) }]),
    ]),
  ];
  const figures: Html[] = [];
  if (histogram.length > 0) {
    figures.push(
      renderFigure(
        'Products by spread',
        await drawChart(histogramChart(histogram)),
        'Number of products; the last bar is 100 % and more',
      ),
    );
  }
  if (days.length > 1) {
    figures.push(
      renderFigure(
        'Spread by day',
        await drawChart(spreadDaysChart(days)),
        'Median and middle 50 % at the end of each day, in %',
      ),
    );
  }
  if (categories.length > 0) figures.push(await drawCategories(categories));
  body.push(html`<div class="pair">${figures}</div>`);
  body.push(renderWidest(facts));
  if (categories.length > 0) body.push(renderCategories(categories));
  return { id: 'spread', title: 'Price spread', body };
}

function explainOutliers(count: bigint): string {
  if (count === 0n) return 'No product has a price far from all its others.';
  const those = count === 1n ? 'One product has a price' : `${formatCount(count)} products have prices`;
  return `${those} far from all others, most likely a mistake of a shop or a scrape; such prices are left out.`;
}

async function drawCategories(categories: readonly Category[]): Promise<Html> {
  const drawn = categories.slice(0, CATEGORIES_DRAWN).sort((a, b) => b.median - a.median);
  const ranges = drawn.map((category) => ({
    name: nameOf(category),
    low: category.p25,
    middle: category.median,
    high: category.p75,
  }));
  const [most, least] = [drawn[0], drawn.at(-1)].map((one) => (one === undefined ? '' : cutText(nameOf(one), 40)));
  const label = `Median spread of ${countOf(drawn.length, 'category', 'categories')} with the range of the middle 50 %, from ${most} down to ${least}. The table by category has the figures.`;
  const legend = `Median and middle 50 %${drawn.length < categories.length ? ` of the ${drawn.length} categories with the most products` : ''}`;
  return renderFigure('By category', await drawChart(rangesChart(ranges, { label, axisTitle: 'spread in %' })), legend);
}

function nameOf({ category_name, category_slug }: Category): string {
  return category_name ?? category_slug;
}

function renderCategories(categories: readonly Category[]): Html {
  const percent = (label: string, pick: (row: Category) => number): Column<Category> => ({
    label,
    numeric: true,
    sortBy: pick,
    cell: (row) => formatPercent(pick(row)),
  });
  const columns: Column<Category>[] = [
    {
      label: 'Category',
      sortBy: (row) => cutText(nameOf(row), 60),
      cell: (row) => html`${foreign(nameOf(row))} <small>${foreign(row.category_path)}</small>`,
    },
    {
      label: 'Products',
      numeric: true,
      sortBy: ({ spreads }) => Number(spreads),
      cell: ({ spreads }) => formatCount(spreads),
    },
    percent('Lower quarter', ({ p25 }) => p25),
    percent('Median', ({ median }) => median),
    percent('Upper quarter', ({ p75 }) => p75),
    percent('Widest', ({ widest }) => widest),
  ];
  const caption = 'Spread in percent by category, those with the most compared products first';
  return html`<details><summary>Spread by category, in figures</summary>
${renderTable({ caption, columns, rows: categories, sorted: { by: 'Products', order: 'descending' }, cards: true })}
</details>`;
}

function renderWidest({ spreads, summary }: LakeFacts): Html {
  const { min_shops, in_many_shops } = summary;
  if (spreads.length === 0) return html`<p>No product without an outlier is sold by ${min_shops} shops.</p>`;
  const those = `spreads among products in ${min_shops} shops or more without an outlier`;
  const table = renderTable({
    id: 'widest',
    caption:
      spreads.length < in_many_shops
        ? `The ${formatCount(spreads.length)} widest of ${formatCount(in_many_shops)} ${those}`
        : `All ${formatCount(spreads.length)} ${those}`,
    columns: WIDEST,
    rows: spreads,
    sorted: { by: 'Spread', order: 'descending' },
    fold: ROWS_OPEN,
    cards: true,
  });
  return html`<h3>The widest spreads</h3>
<p class="search" hidden><label for="widest-search">Search these products</label>
<input id="widest-search" type="search" data-search="widest" autocomplete="off" spellcheck="false">
<output for="widest-search"></output></p>
${table}`;
}

const WIDEST: Column<Spread>[] = [
  {
    label: 'Product',
    sortBy: ({ title, product_id }) => cutText(title ?? product_id, 60),
    cell: ({ title, brand, product_id }) =>
      html`${foreign(title ?? product_id)} <small>${brand === null ? '' : html`${foreign(brand, 60)} · `}${foreign(product_id, 60)}</small>`,
  },
  {
    label: 'Cheapest',
    numeric: true,
    named: true,
    sortBy: ({ min }) => min,
    cell: ({ min, currency, cheapest_shop }) =>
      html`${money(min, currency)} <small>${foreign(cheapest_shop, 60)}</small>`,
  },
  {
    label: 'Median',
    numeric: true,
    sortBy: ({ median }) => median,
    cell: ({ median, currency }) => money(median, currency),
  },
  {
    label: 'Most expensive',
    numeric: true,
    named: true,
    sortBy: ({ max }) => max,
    cell: ({ max, currency, dearest_shop }) =>
      html`${money(max, currency)} <small>${foreign(dearest_shop, 60)}</small>`,
  },
  {
    label: 'Apart',
    numeric: true,
    sortBy: ({ spread }) => spread,
    cell: ({ spread, currency }) => money(spread, currency),
  },
  {
    label: 'Spread',
    numeric: true,
    sortBy: ({ spread_pct }) => spread_pct,
    cell: ({ spread_pct }) => formatPercent(spread_pct),
  },
  {
    label: 'Shops',
    numeric: true,
    sortBy: ({ shops }) => Number(shops),
    cell: ({ shops, offers }) =>
      offers === shops ? formatCount(shops) : html`${formatCount(shops)} <small>${countOf(offers, 'offer')}</small>`,
  },
];
