import { countOf, formatCount } from '../../formats/count.js';
import { html } from '../../formats/html.js';
import { askForSparklines } from '../charts/sparkline.js';
import { askForDates } from '../compared-columns.js';
import { readDates, renderDates } from '../dates.js';
import { onlyIn } from '../edition.js';
import { readHidden, renderColumnChoice } from '../hidden-columns.js';
import {
  type Choice,
  changeAddress,
  type Page,
  type PageRequest,
  readLimit,
  readOffset,
  readOrder,
  renderChoice,
  renderField,
  renderFilters,
} from '../page.js';
import type { Question } from '../question.js';
import { renderAnswer, renderPager } from '../table.js';
import { askForFacets, type Facet, readInList, renderBrand, renderInList } from './product-facets.js';

const PATH = '/products';
const VARIABLES = [
  'q',
  'currency',
  'category',
  'brand',
  'site_id',
  'grade',
  'min_shops',
  'in_stock',
  'min_price',
  'max_price',
  'in_list',
] as const;

/** Builds a query for products from the parameters in the address. */
export function askForProducts(search: URLSearchParams): Question {
  const given = Object.fromEntries(VARIABLES.map((name) => [name, search.get(name) ?? '']));
  const set = { ...given, in_list: readInList(search) };
  const limit = readLimit(search);
  return { analysis: 'find_products', set, order: readOrder(search), offset: readOffset(search), limit };
}

/** Lists the products that match the words and filters in the address. */
export async function productsPage({ search, ask, snapshot }: PageRequest): Promise<Page> {
  const question = askForProducts(search);
  const { set } = question;
  // While the reader types, the script requests the rows first, and the counts of the filters later.
  const isPart = search.get('part') !== null;
  const [answer, facets] = await Promise.all([ask(question), isPart ? undefined : askForFacets(set, ask)]);
  const whole = snapshot.isWhole ? [answer] : [];
  const [spark, compared] = await Promise.all([
    askForSparklines(whole, ask),
    askForDates(readDates(search), whole, ask),
  ]);
  const columns = [
    'title',
    ...(snapshot.isWhole ? [spark, ...compared] : []),
    'brand',
    { name: 'category_name', label: 'Category' },
    'shops',
    { name: 'min_price', label: 'Cheapest' },
    { name: 'median_price', label: 'Median' },
    { name: 'max_price', label: 'Most expensive' },
    'currency',
    { name: 'spread_pct', label: 'Spread' },
    'grade',
    { name: 'cheapest_shop', label: 'Cheapest at' },
    { name: 'delivered_min', label: 'Delivered from' },
  ];
  const hidden = readHidden(search);
  const field = (name: (typeof VARIABLES)[number], label: string, hint = '') =>
    renderField(name, label, set[name] ?? '', hint);
  const choose = (name: Facet, label: string) =>
    facets === undefined ? '' : renderChoice(name, label, facets.list(name), set[name] ?? '');
  const filters = renderFilters(
    PATH,
    [
      facets === undefined ? '' : renderBrand(set.brand ?? '', facets.list('brand')),
      choose('category', 'Category'),
      choose('site_id', 'Sold by'),
      choose('currency', 'Currency'),
      choose('grade', 'Grade'),
      choose('in_stock', 'In stock'),
      renderInList(snapshot.list !== undefined, set.in_list ?? ''),
      field('min_shops', 'Shops from'),
      field('min_price', 'Price from'),
      field('max_price', 'to'),
      ...renderDates(search, 'Compare'),
      renderColumnChoice(columns, hidden),
    ],
    { sort: search.get('sort') ?? '', order: search.get('order') ?? '', rows: search.get('rows') ?? '' },
  );
  const address = (changes: Record<string, string>) => changeAddress(PATH, search, { from: '', part: '', ...changes });
  const table = renderAnswer(answer, question, {
    caption: `${facets === undefined ? 'Products' : countOf(facets.all, 'product')} with a price, counted in each currency; prices are those that can be trusted`,
    columns,
    brief: ['shops', 'min_price', 'currency', 'spread_pct'],
    isLong: true,
    hidden,
    sortAddress: (by, isDescending) => address({ sort: by, order: isDescending ? 'desc' : '' }),
    // Reports show this sentence in place of a pager.
    moreNote: onlyIn('written', html`<p class="soft">The first ${formatCount(answer.rows.length)} of them.</p>`),
    empty: Object.values(set).some((value) => value !== '')
      ? 'No product has these words and values. Remove a word or a filter.'
      : 'No listing has a price and a product. A listing has a product by its GTIN, or by its brand and part number.',
  });
  const pager = renderPager(answer, question, address);
  return { title: 'Products', body: html`${filters}<div id="found">${table}${pager}</div>` };
}

/** Lists the currencies with the number of products sold in each, most first. */
export async function listCurrencies(ask: PageRequest['ask']): Promise<Choice[]> {
  const { rows } = await ask({ analysis: 'product_currencies', set: {}, limit: 200 });
  return rows.map(([currency, products]) => ({
    value: String(currency),
    label: `${String(currency)} (${formatCount(BigInt(String(products)))})`,
  }));
}
