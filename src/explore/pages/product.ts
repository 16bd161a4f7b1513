import { DuckDBDecimalValue, type DuckDBValue } from '@duckdb/node-api';
import { countOf } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { productPath, showAmount } from '../cells.js';
import { showChangedValues } from '../changed-values.js';
import { foreign, formatPercent, money } from '../format.js';
import { changeAddress, type Page, type PageRequest, renderFigures, renderSection } from '../page.js';
import type { Answer, Question } from '../question.js';
import { renderAnswer } from '../table.js';
import { type ReadValue, readAll, readRow, toNumber, toText } from '../values.js';
import { renderPrices } from './prices-over-time.js';

const MOST_OFFERS = 500;
const MOST_CHANGES = 100;

/** One product in one currency: offers, prices over time, changes. Undefined if the lake does not have it. */
export async function productPage(product: string, request: PageRequest): Promise<Page | undefined> {
  const { search, ask } = request;
  const path = `/products/${encodeURIComponent(product)}`;
  const cards = await ask({
    analysis: 'find_products',
    set: { product },
    order: { by: 'offers', isDescending: true },
    limit: 50,
  });
  if (cards.rows.length === 0) return undefined;
  const read = readRow(
    cards,
    cards.rows.find((row) => String(readRow(cards, row)('currency')) === search.get('currency')) ?? cards.rows[0],
  );
  const currency = String(read('currency'));
  const set = { product, currency };
  const offers: Question = { analysis: 'offers', set, limit: MOST_OFFERS };
  const changes: Question = { analysis: 'product_changes', set: { product }, limit: MOST_CHANGES };
  const [offered, changed] = await Promise.all([ask(offers), ask(changes)]);
  const hasStock = readAll(offered).some((offer) => offer('availability') !== null);
  const picture = await choosePicture(product, request);
  const others = cards.rows.map((row) => String(readRow(cards, row)('currency'))).filter((one) => one !== currency);
  const title = read('title');
  return {
    title: title === null ? product : String(title),
    address: productPath(product, currency),
    note:
      typeof read('spread_pct') === 'number' ? `${currency} · ${formatPercent(Number(read('spread_pct')))}` : currency,
    body: html`${picture === undefined ? '' : html`<img class="picture" src="${picture}" alt="" loading="lazy" referrerpolicy="no-referrer">`}<p class="about">${[read('brand'), read('category_path')].map((part) => (part === null ? '' : html`${foreign(String(part))} · `))}${foreign(product)}${
      others.length === 0
        ? ''
        : html` · also in ${others.map((one) => html`<a href="${changeAddress(path, search, { currency: one })}">${one}</a> `)}`
    }</p>
${renderHead(read, currency)}
${renderSection('Offers', html`${describeBest(offered, currency)}${renderOffers(offered, offers, currency)}`)}
${await renderPrices({ path, product, currency, hasStock }, request)}
${renderSection(
  'Changes',
  renderAnswer(changed, changes, {
    caption: 'Changes reported by the service, latest first',
    columns: [
      { name: 'observed_at', label: 'When' },
      'shop',
      'kind',
      'previous_price',
      'price',
      'currency',
      { name: 'changes', label: 'Other values', show: (value) => showChangedValues(String(value ?? '{}')) },
      'item_id',
      { name: 'change_id', label: 'Change' },
    ],
    empty: 'No known changes.',
  }),
)}`,
  };
}

/** The picture that most listings have, of the hosts that the reader allows. */
async function choosePicture(product: string, { ask, pictures }: PageRequest): Promise<string | undefined> {
  if (pictures.size === 0) return undefined;
  const found = await ask({ analysis: 'product_pictures', set: { product }, limit: 20 });
  const addresses = readAll(found).flatMap((read) => toText(read('image')) ?? []);
  return addresses.find((address) => URL.canParse(address) && pictures.has(new URL(address).host));
}

function renderHead(read: ReadValue, currency: string): Html {
  const amount = (name: string): Content => {
    const value = read(name);
    return value instanceof DuckDBDecimalValue ? money(showAmount(name, value), currency) : '–';
  };
  const spread = read('spread_pct');
  const leftOut = read('left_out');
  return renderFigures([
    { name: 'Cheapest', value: amount('min_price'), note: foreign(text(read('cheapest_shop'))) },
    { name: 'Median', value: amount('median_price') },
    { name: 'Most expensive', value: amount('max_price') },
    {
      name: 'Spread',
      value: typeof spread === 'number' ? formatPercent(spread) : '–',
      note: foreign(text(read('grade_reason'))?.replaceAll('_', ' ') ?? null, 120),
    },
    { name: 'Grade', value: text(read('grade')) ?? '–' },
    {
      name: 'Shops',
      value: String(read('shops')),
      note: typeof leftOut === 'bigint' && leftOut > 0n ? `${countOf(leftOut, 'offer')} left out` : '',
    },
  ]);
}

const text = (value: DuckDBValue): string | null => (typeof value === 'string' ? value : null);

/** The cheapest offer that a shop says it has, and the cheapest with its delivery. */
function describeBest(answer: Answer, currency: string): Content {
  const counted = readAll(answer).filter((read) => read('is_counted') === true);
  const tell = (what: string, name: string, read: ReadValue | undefined): Content => {
    const amount = read?.(name);
    if (!(amount instanceof DuckDBDecimalValue)) return '';
    return html`${what}: <strong>${money(amount.toString(), currency)}</strong> at ${foreign(text(read?.('shop') ?? null), 60)}. `;
  };
  const [inStock] = counted.filter((read) => read('availability') === 'in stock');
  const [delivered] = counted
    .filter((read) => toNumber(read('delivered_price')) !== undefined)
    .sort((a, b) => (toNumber(a('delivered_price')) ?? 0) - (toNumber(b('delivered_price')) ?? 0));
  if (inStock === undefined && delivered === undefined) return '';
  return html`<p>${tell('Cheapest in stock', 'price', inStock)}${tell('Cheapest delivered', 'delivered_price', delivered)}</p>`;
}

const renderOffers = (answer: Answer, question: Question, currency: string): Html =>
  renderAnswer(answer, question, {
    caption: `${countOf(answer.rows.length, 'offer')} in ${currency}, the cheapest first`,
    columns: [
      'shop',
      'price',
      { name: 'is_counted', label: 'Counts' },
      { name: 'reason', label: 'Remark' },
      { name: 'availability', label: 'Stock' },
      { name: 'delivered_price', label: 'Delivered' },
      { name: 'regular_price', label: 'Regular' },
      { name: 'unit_price', label: 'Per unit' },
      'unit',
      { name: 'previous_price', label: 'Before' },
      { name: 'price_changed_at', label: 'Since' },
      { name: 'last_seen_at', label: 'Last seen' },
      { name: 'url', label: 'Page' },
    ],
    empty: 'No shop lists it now.',
  });
