import { countOf, formatCount } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { drawChart } from '../chart.js';
import { rangesChart } from '../charts/ranges.js';
import { histogramChart, spreadDaysChart } from '../charts/spreads.js';
import { cutText, foreign, formatPercent, money } from '../format.js';
import { type Column, numberColumn, renderFigure, renderFigures, renderTable, type Section } from '../layout.js';
import type { ReportFacts } from '../read-facts.js';
import { keyOf } from '../read-histories.js';
import type { Category, Offer, Spread } from '../rows.js';
import { productId } from './history.js';

const CATEGORIES_DRAWN = 12;
const ROWS_OPEN = 15;

/** Shows price differences: the widest, all of them, and by category. */
export async function spreadSection(facts: ReportFacts): Promise<Section> {
  const { summary, histogram, days, categories, selection } = facts;
  const scope = selection.currency === undefined ? 'one currency' : selection.currency;
  const section = { id: 'spread', title: 'Price differences' };
  if (summary.spreads === 0n) return { ...section, body: html`<p>No product is sold by two shops in ${scope}.</p>` };
  const body: Content[] = [
    html`<p>The spread of a product is how much more its most expensive offer costs than its cheapest, in percent of the cheapest;
here for products that two or more shops sell in ${scope}.</p>
<p>${explainGrades(summary)}</p>`,
    renderFigures([
      { name: 'Compared', value: formatCount(summary.spreads), note: 'products, per currency' },
      ...(summary.median_pct === null
        ? []
        : [{ name: 'Half differ by more than', value: formatPercent(summary.median_pct) }]),
      ...(summary.p90_pct === null ? [] : [{ name: 'One in ten by more than', value: formatPercent(summary.p90_pct) }]),
    ]),
    renderWidest(facts),
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
  if (categories.length > 0) body.push(renderCategories(categories));
  return { ...section, body };
}

function explainGrades({ grade_a, grade_b, grade_c, left_out, spreads }: ReportFacts['summary']): string {
  const offers =
    left_out === 0n
      ? ''
      : ` ${countOf(left_out, 'offer')} with a wrong price, another pack or an old date ${left_out === 1n ? 'is' : 'are'} left out.`;
  const doubtful =
    grade_c === 0n
      ? ''
      : ` ${countOf(grade_c, 'product')} of ${formatCount(spreads)} ${grade_c === 1n ? 'is' : 'are'} left out with grade C, because prices contradict each other or too few can be trusted; pricelake spread --grade C shows them.`;
  return `Grade A (${formatCount(grade_a)}): four or more shops, and nothing but duplicates left out. Grade B (${formatCount(grade_b)}): fewer shops, or some offers left out.${doubtful}${offers}`;
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
  const columns: Column<Category>[] = [
    {
      label: 'Category',
      sortBy: (row) => cutText(nameOf(row), 60),
      cell: (row) => html`${foreign(nameOf(row))} <small>${foreign(row.category_path)}</small>`,
    },
    numberColumn('Products', ({ spreads }) => spreads),
    numberColumn('Lower quarter', ({ p25 }) => p25, formatPercent),
    numberColumn('Median', ({ median }) => median, formatPercent),
    numberColumn('Upper quarter', ({ p75 }) => p75, formatPercent),
    numberColumn('Widest', ({ widest }) => widest, formatPercent),
  ];
  const caption = 'Spread in percent by category, those with the most compared products first';
  return html`<details><summary>Spread by category, in figures</summary>
${renderTable({ caption, columns, rows: categories, sorted: { by: 'Products', order: 'descending' }, cards: true })}
</details>`;
}

function renderWidest(facts: ReportFacts): Html {
  const { spreads, summary } = facts;
  const { min_shops, in_many_shops } = summary;
  if (spreads.length === 0) return html`<p>No product that can be trusted is sold by ${min_shops} shops.</p>`;
  const those = `spreads of grade A and B among products in ${min_shops} shops or more`;
  const places = new Map(facts.histories.map(({ product }, place) => [keyOf(product), place]));
  const table = renderTable({
    id: 'widest',
    caption:
      spreads.length < in_many_shops
        ? `The ${formatCount(spreads.length)} widest of ${formatCount(in_many_shops)} ${those}`
        : `All ${formatCount(spreads.length)} ${those}`,
    columns: widestColumns(places),
    rows: spreads,
    sorted: { by: 'Spread', order: 'descending' },
    fold: ROWS_OPEN,
    cards: true,
    data: (spread) => ({
      currency: spread.currency,
      category: spread.category_slug ?? '',
      shops: listShops(facts, spread)
        .map(({ site_id }) => site_id)
        .join(' '),
    }),
  });
  return html`<h3>The widest spreads</h3>
${renderFilters(facts)}
${table}`;
}

/** An offer of each shop that lists the product. */
function listShops({ histories }: ReportFacts, spread: Spread): Offer[] {
  const key = keyOf(spread);
  const offers = histories.find(({ product }) => keyOf(product) === key)?.offers ?? [];
  const bySite = new Map(offers.filter(({ is_listed }) => is_listed).map((offer) => [offer.site_id, offer]));
  return [...bySite.values()];
}

/** Controls that filter the table. The page's address keeps their values. */
function renderFilters(facts: ReportFacts): Html {
  const { spreads } = facts;
  const options = (pairs: Iterable<readonly [string, string]>) =>
    [...new Map(pairs)].sort(([, a], [, b]) => a.localeCompare(b, 'en'));
  const shops = spreads.flatMap((spread) =>
    listShops(facts, spread).map(({ site_id, shop }) => [String(site_id), shop ?? `site ${site_id}`] as const),
  );
  const categories = spreads.flatMap(({ category_slug, category_name }) =>
    category_slug === null ? [] : [[category_slug, category_name ?? category_slug] as const],
  );
  const choose = (name: string, label: string, values: [string, string][]) =>
    values.length < 2
      ? ''
      : html`<label>${label} <select data-filter="${name}"><option value="">all</option>${values.map(
          ([value, text]) => html`<option value="${value}">${cutText(text, 40)}</option>`,
        )}</select></label>\n`;
  return html`<div class="search" role="group" aria-label="Filter these products" data-table="widest" hidden>
<label>Search <input type="search" data-filter="text" autocomplete="off" spellcheck="false"></label>
${choose('shop', 'Shop', options(shops))}${choose('category', 'Category', options(categories))}${choose(
  'currency',
  'Currency',
  options(spreads.map(({ currency }) => [currency, currency] as const)),
)}<output></output></div>`;
}

/** An amount, with the shop that asks it below. */
function moneyColumn(
  label: string,
  amount: 'min' | 'median' | 'max' | 'spread',
  shop?: 'cheapest_shop' | 'dearest_shop',
): Column<Spread> {
  const name = (row: Spread) => (shop === undefined ? '' : html` <small>${foreign(row[shop], 60)}</small>`);
  const cell = (row: Spread) => html`${money(row[amount], row.currency)}${name(row)}`;
  return { label, numeric: true, named: shop !== undefined, sortBy: (row) => row[amount], cell };
}

const widestColumns = (places: ReadonlyMap<string, number>): Column<Spread>[] => [
  {
    label: 'Product',
    sortBy: ({ title, product_id }) => cutText(title ?? product_id, 60),
    cell: (spread) => {
      const { title, brand, product_id } = spread;
      const place = places.get(keyOf(spread));
      const name = foreign(title ?? product_id);
      return html`${place === undefined ? name : html`<a href="#${productId(place)}" class="open">${name}</a>`} <small>${brand === null ? '' : html`${foreign(brand, 60)} · `}${foreign(product_id, 60)}</small>`;
    },
  },
  moneyColumn('Cheapest', 'min', 'cheapest_shop'),
  moneyColumn('Median', 'median'),
  moneyColumn('Most expensive', 'max', 'dearest_shop'),
  moneyColumn('Difference', 'spread'),
  numberColumn('Spread', ({ spread_pct }) => spread_pct, formatPercent),
  {
    label: 'Shops',
    numeric: true,
    sortBy: ({ shops }) => Number(shops),
    cell: ({ shops, left_out }) =>
      left_out === 0n
        ? formatCount(shops)
        : html`${formatCount(shops)} <small>${formatCount(left_out)} left out</small>`,
  },
  {
    label: 'Grade',
    sortBy: ({ grade }) => grade,
    cell: ({ grade, grade_reason }) => html`${grade} <small>${foreign(grade_reason, 120)}</small>`,
  },
];
