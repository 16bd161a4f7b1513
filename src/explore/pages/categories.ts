import { type Content, html } from '../../formats/html.js';
import { chartAnswer } from '../charts/chart-answer.js';
import { makeRangeColumn } from '../charts/range-bar.js';
import { onlyIn } from '../edition.js';
import { foreign } from '../format.js';
import {
  changeAddress,
  type Page,
  type PageRequest,
  readOrder,
  renderChoice,
  renderFilters,
  renderSection,
} from '../page.js';
import { askPast } from '../past.js';
import type { Question } from '../question.js';
import { renderAnswer } from '../table.js';
import { readAll, toText } from '../values.js';
import { listCurrencies } from './products.js';

const DISPERSION = [
  'title',
  'shops',
  'lowest',
  { name: 'second_lowest', label: 'Second lowest' },
  'highest',
  'currency',
  { name: 'gap_pct', label: 'Gap to the second' },
  { name: 'range_pct', label: 'Range' },
  { name: 'cv_pct', label: 'Deviation' },
];

/** Shows the spreads of each category, and the products whose prices differ most between shops. */
export async function categoriesPage(request: PageRequest): Promise<Page> {
  const { search, ask } = request;
  const currency = search.get('currency') ?? '';
  const order = readOrder(search) ?? { by: 'category_path', isDescending: false };
  const spreads: Question = { analysis: 'spread_by_category', set: { currency, top: '2000' }, order, limit: 2000 };
  const dispersion: Question = { analysis: 'dispersion', set: { currency, top: '20' }, limit: 20 };
  const histogram: Question = { analysis: 'spread_histogram', set: { currency }, limit: 100 };
  const days: Question = { analysis: 'spread_by_day', set: { currency, days: '90' }, limit: 100 };
  const [answer, dispersed, steps, byDay, currencies] = await Promise.all([
    ask(spreads),
    ask(dispersion),
    ask(histogram),
    askPast(request, days),
    listCurrencies(ask),
  ]);
  const charts = [
    await chartAnswer(histogram.analysis, steps),
    byDay.answer === undefined ? '' : await chartAnswer(days.analysis, byDay.answer),
  ];
  const tree = readAll(answer).map((read) => toText(read('category_path')) ?? '');
  return {
    title: 'Categories',
    ...byDay.again,
    body: html`${renderFilters('/categories', [renderChoice('currency', 'Currency', [{ value: '', label: 'any' }, ...currencies], currency)])}
<div class="charts">${charts}</div>
${renderAnswer(answer, spreads, {
  caption: 'Trusted spreads of products that two or more shops sell, by category',
  columns: [
    {
      name: 'category_path',
      label: 'Category',
      show: (value, read) => {
        const slug = toText(read('category_slug') ?? null) ?? '';
        const path = toText(value) ?? toText(read('category_name') ?? null) ?? slug;
        return showCategory(slug, path, order.by === 'category_path' ? tree : [], currency);
      },
    },
    { name: 'spreads', label: 'Products' },
    makeRangeColumn(
      answer,
      { low: 'p25', middle: 'median', high: 'p75' },
      { label: 'Median and middle half of spreads', unit: '\u00a0%' },
    ),
    { name: 'widest', label: 'Widest, %' },
  ],
  isLong: true,
  sortAddress: (by, isDescending) =>
    changeAddress('/categories', search, { sort: by, order: isDescending ? 'desc' : '' }),
  empty: 'No product with a category is sold by two shops.',
})}
${onlyIn('served', html`<p>How prices moved in each: <a href="/analyses/price_index?by=category">price index by category</a>.</p>`)}
${renderSection('Where prices differ most', renderAnswer(dispersed, dispersion, { caption: 'Products whose prices differ most between shops', columns: DISPERSION, brief: ['shops', 'lowest', 'currency', 'range_pct'] }))}`,
  };
}

/** Renders a category path, with indentation in place of the names that are also in the row above. */
function showCategory(slug: string, path: string, tree: readonly string[], currency: string): Content {
  const before = tree[tree.indexOf(path) - 1];
  const shared = before === undefined ? 0 : countShared(path, before);
  const label = shared === 0 ? path : path.slice(shared);
  const depth = (path.slice(0, shared).match(NAME_END) ?? []).length;
  const address = changeAddress('/products', new URLSearchParams(), { category: slug, currency, min_shops: '2' });
  return html`<span class="depth-${Math.min(depth, MOST_DEPTH)}"><a href="${address}">${foreign(label)}</a></span>`;
}

const MOST_DEPTH = 4;

/**
 * Matches a separator in a category path. The API doesn't define a separator, so this matches anything but letters,
 * digits and common punctuation.
 */
const NAME_END = / ?[^\p{L}\p{N}\s&,.()'-]+ ?/gu;

/** Returns the number of characters in the names that both paths start with, including the last separator. */
function countShared(path: string, before: string): number {
  const ends = [...path.matchAll(NAME_END)].map(({ index, 0: mark }) => index + mark.length);
  return ends.findLast((end) => before.startsWith(path.slice(0, end))) ?? 0;
}
