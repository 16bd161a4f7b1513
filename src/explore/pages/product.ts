import { DuckDBDecimalValue, type DuckDBValue } from '@duckdb/node-api';
import { countOf } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { productPath, showAmount } from '../cells.js';
import { drawPriceLines, MOST_LINES } from '../charts/price-lines.js';
import { foreign, formatMoney, formatPercent, money } from '../format.js';
import {
  changeAddress,
  type Page,
  type PageRequest,
  renderChoice,
  renderFigures,
  renderFilters,
  renderSection,
} from '../page.js';
import type { Answer, Question } from '../question.js';
import { renderAnswer } from '../table.js';
import { type ReadValue, readAll, readRow, toDate, toNumber, toText } from '../values.js';

const SPANS = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
  { value: 'all', label: 'all' },
];
const USUAL_SPAN = '90';
const MOST_OFFERS = 500;
const MOST_SPELLS = 5_000;
const MOST_CHANGES = 100;
const DAY_MS = 86_400_000;

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
  const span = SPANS.find(({ value }) => value === search.get('days'))?.value ?? USUAL_SPAN;
  const set = { product, currency };
  const offers: Question = { analysis: 'offers', set, limit: MOST_OFFERS };
  const spells: Question = {
    analysis: 'product_spells',
    set: { ...set, days: span === 'all' ? '' : span },
    limit: MOST_SPELLS,
  };
  const changes: Question = { analysis: 'product_changes', set: { product }, limit: MOST_CHANGES };
  const [offered, lasted, changed] = await Promise.all([ask(offers), ask(spells), ask(changes)]);
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
${renderSection(
  'Prices over time',
  html`${renderFilters(path, [renderChoice('days', 'Span', SPANS, span)], { currency })}
${describeRange(lasted, currency)}
${drawSpells(lasted, currency, span)}
<details><summary>Prices in figures</summary>${renderAnswer(lasted, spells, { caption: `Each price of each offer in ${currency}`, columns: ['shop', 'price', 'from_at', 'to_at', 'began', 'ended', 'is_suspect', 'item_id'] })}</details>`,
)}
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
      { name: 'changes', label: 'Other values' },
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
      note: foreign(text(read('grade_reason')), 120),
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

interface Spell {
  item: string;
  name: string;
  from: Date;
  to: Date;
  price: number;
  /** Exact. */
  text: string;
  isSuspect: boolean;
  /** A price of today that counts. */
  isCurrent: boolean;
}

/** Today's lowest price beside those of the span and of the last 30 days. */
function describeRange(answer: Answer, currency: string): Html {
  const right = answer.rows.map((row) => toSpell(readRow(answer, row))).filter(({ isSuspect }) => !isSuspect);
  const cheapest = minBy(right.filter(({ isCurrent }) => isCurrent));
  if (cheapest === undefined) return html``;
  const prices = right.map(({ price }) => price);
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  const until = Math.max(...right.map(({ to }) => to.getTime()));
  const recent = minBy(right.filter(({ to }) => to.getTime() > until - 30 * DAY_MS));
  const range = `${formatMoney(low.toFixed(4))}–${formatMoney(high.toFixed(4))}`;
  const place =
    low === high
      ? 'the only price of this period'
      : `${describePlace((cheapest.price - low) / (high - low))} of this period (${range})`;
  const lowest =
    recent === undefined || recent.price >= cheapest.price
      ? ''
      : html` In the last 30 days it was <strong>${money(recent.text, currency)}</strong> at ${foreign(recent.name, 60)}.`;
  return html`<p>Today from <strong>${money(cheapest.text, currency)}</strong> at ${foreign(cheapest.name, 60)}: ${place}.${lowest}</p>`;
}

/** Says where a price stands on the way from the lowest to the highest one. */
function describePlace(share: number): string {
  if (share <= 0) return 'the low';
  if (share >= 1) return 'the high';
  if (share <= 0.1) return 'near the low';
  return share >= 0.9 ? 'near the high' : `${Math.round(100 * share)} % above the low on the way to the high`;
}

const minBy = (spells: readonly Spell[]): Spell | undefined =>
  spells.reduce<Spell | undefined>(
    (least, one) => (least === undefined || one.price < least.price ? one : least),
    undefined,
  );

/** Lines of the offers whose price is lowest now. Suspect prices would flatten all others, so they are in the table alone. */
function drawSpells(answer: Answer, currency: string, span: string): Html {
  const spells = answer.rows.map((row) => toSpell(readRow(answer, row)));
  const right = spells.filter(({ isSuspect }) => !isSuspect);
  const drawn = right.length > 0 ? right : spells;
  const [first] = drawn;
  if (first === undefined) return html`<p class="soft">No known price in this period.</p>`;
  const end = Math.max(...drawn.map(({ to }) => to.getTime()));
  const begin = Math.min(...drawn.map(({ from }) => from.getTime()));
  const start = span === 'all' ? begin : end - Number(span) * DAY_MS;
  const from = new Date(Math.min(start, end - DAY_MS));
  const items = [...new Set(drawn.map(({ item }) => item))];
  const lines = items.slice(0, MOST_LINES).map((item) => {
    const own = drawn.filter((one) => one.item === item);
    const runs = own.map((one) => ({ ...one, from: one.from < from ? from : one.from }));
    return { name: own[0]?.name ?? item, runs };
  });
  const prices = drawn.map(({ price }) => price);
  const range = `${formatMoney(Math.min(...prices).toFixed(4))} to ${formatMoney(Math.max(...prices).toFixed(4))} ${currency}`;
  const left = items.length - lines.length;
  const label = `Prices of ${countOf(lines.length, 'offer')} over time, ${range}. The table below has the figures.`;
  return html`<figure class="chart">${drawPriceLines(lines, { from, to: new Date(end) }, label)}<figcaption>Prices in ${currency}, ${range}${left > 0 ? `; ${countOf(left, 'offer')} not drawn` : ''}</figcaption></figure>`;
}

function toSpell(read: ReadValue): Spell {
  const time = (name: string) => toDate(read(name));
  const from = time('from_at') ?? new Date(0);
  return {
    item: String(read('item_id')),
    name: String(read('shop')),
    from,
    to: time('to_at') ?? time('known_until') ?? from,
    price: Number(String(read('price'))),
    text: String(read('price')),
    isCurrent: read('to_at') === null && read('is_counted') !== false,
    isSuspect: read('is_suspect') === true,
  };
}
