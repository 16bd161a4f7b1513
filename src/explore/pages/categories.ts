import { html } from '../../formats/html.js';
import { chartAnswer } from '../charts/chart-answer.js';
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
import type { Question } from '../question.js';
import { renderAnswer } from '../table.js';
import { listCurrencies } from './products.js';

/** Categories with their spreads, and how much prices differ in them. */
export async function categoriesPage({ search, ask }: PageRequest): Promise<Page> {
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
    ask(days),
    listCurrencies(ask),
  ]);
  const charts = [
    await chartAnswer(histogram.analysis, steps),
    await chartAnswer(days.analysis, byDay),
    await chartAnswer(spreads.analysis, answer),
  ];
  return {
    title: 'Categories',
    body: html`${renderFilters('/categories', [renderChoice('currency', 'Currency', [{ value: '', label: 'any' }, ...currencies], currency)])}
<div class="charts">${charts}</div>
${renderAnswer(answer, spreads, {
  caption: 'Trusted spreads of products that two or more shops sell, by category',
  columns: [
    {
      name: 'category_path',
      label: 'Category',
      show: (value, read) =>
        html`<a href="${changeAddress('/products', new URLSearchParams(), { category: String(read('category_slug')), currency, min_shops: '2' })}">${foreign(String(value ?? read('category_name') ?? read('category_slug')))}</a>`,
    },
    { name: 'spreads', label: 'Products' },
    { name: 'p25', label: 'Lower quarter, %' },
    { name: 'median', label: 'Median, %' },
    { name: 'p75', label: 'Upper quarter, %' },
    { name: 'widest', label: 'Widest, %' },
  ],
  sortAddress: (by, isDescending) =>
    changeAddress('/categories', search, { sort: by, order: isDescending ? 'desc' : '' }),
  empty: 'No product with a category is sold by two shops.',
})}
${renderSection('Where prices differ most', renderAnswer(dispersed, dispersion, { caption: 'Products whose prices differ most between shops' }))}`,
  };
}
