import { DuckDBDecimalValue, type DuckDBValue } from '@duckdb/node-api';
import { countOf } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { productPath } from '../cells.js';
import { showChangedValues } from '../changed-values.js';
import { foreign, formatPercent, trimCents } from '../format.js';
import { changeAddress, type Page, type PageRequest, renderSection } from '../page.js';
import type { Answer, Question } from '../question.js';
import { renderAnswer, type ShownColumn } from '../table.js';
import { type ReadValue, readAll, toNumber, toText } from '../values.js';
import { renderAlarmForm } from './alarm.js';
import { renderPastFigures, renderPriceChart } from './prices-over-time.js';
import { renderDecision } from './product-decision.js';

const MOST_OFFERS = 500;
const MOST_CHANGES = 50;
const MOST_REDUCTIONS = 50;

/**
 * Shows one product in one currency: its best price, how that compares with past prices, its offers, and its changes.
 * Returns undefined if the lake doesn't have the product.
 */
export async function productPage(product: string, request: PageRequest): Promise<Page | undefined> {
  const { search, ask } = request;
  const path = `/products/${encodeURIComponent(product)}`;
  const cards = await ask({ analysis: 'find_products', set: { product }, limit: 50 });
  const markets = listMarkets(cards);
  const card = markets.find((read) => String(read('currency')) === search.get('currency')) ?? markets[0];
  if (card === undefined) return undefined;
  const currency = String(card('currency'));
  const set = { product, currency };
  const offers: Question = { analysis: 'offers', set, limit: MOST_OFFERS };
  const changes: Question = { analysis: 'product_changes', set: { product }, limit: MOST_CHANGES };
  const [offered, reported, best, line] = await Promise.all([
    ask(offers),
    ask(changes),
    ask({ analysis: 'best_prices', set, limit: 3 }),
    findOwnLine(product, currency, request),
  ]);
  const reductions = await findReductions(offered, set, ask);
  const own = toText(line?.('price') ?? null);
  const hasStock = readAll(offered).some((offer) => offer('availability') !== null);
  const shown = { path, product, currency, hasStock, own };
  const decision = {
    card,
    currency,
    offers: readAll(offered),
    best: readAll(best),
    reductions,
    own,
  };
  const { figures, ranges } = renderDecision(decision);
  const picture = await choosePicture(product, request);
  const otherCurrencies = markets.map((read) => String(read('currency'))).filter((one) => one !== currency);
  const title = card('title');
  return {
    title: title === null ? product : String(title),
    address: productPath(product, currency),
    note:
      typeof card('spread_pct') === 'number' ? `${currency} · ${formatPercent(Number(card('spread_pct')))}` : currency,
    body: html`${picture === undefined ? '' : html`<img class="picture" src="${picture}" alt="" loading="lazy" referrerpolicy="no-referrer">`}<p class="about">${[card('brand'), card('category_path')].map((part) => (part === null ? '' : html`${foreign(String(part))} · `))}${foreign(product)}${
      otherCurrencies.length === 0
        ? ''
        : html` · also in ${otherCurrencies.map((one) => html`<a href="${changeAddress(path, search, { currency: one })}">${one}</a> `)}`
    }</p>
${figures}
${request.canSetAlarms ? renderAlarmForm(product, currency, line) : ''}
<div class="split">${await renderPriceChart(shown, request)}
<div>${ranges}</div></div>
${renderSection('Offers', html`${renderOffers(offered, offers, currency, reductions)}${await renderPastFigures(shown, request)}`)}
${renderSection(
  'Changes',
  renderAnswer(reported, changes, {
    caption: 'Changes reported by the service, latest first',
    columns: [
      { name: 'observed_at', label: 'When' },
      'shop',
      'kind',
      { name: 'previous_price', label: 'Before' },
      'price',
      'currency',
      { name: 'changes', label: 'Other values', show: (value) => showChangedValues(String(value ?? '{}')) },
    ],
    brief: ['shop', 'kind', 'previous_price', 'price'],
    empty: 'No known changes.',
  }),
)}`,
  };
}

/** Returns one row per currency in which the product is sold, sorted by the number of shops, most first. */
function listMarkets(cards: Answer): ReadValue[] {
  const count = (read: ReadValue, name: string) => toNumber(read(name)) ?? 0;
  return readAll(cards).sort(
    (a, b) => count(b, 'shops') - count(a, 'shops') || count(b, 'offers') - count(a, 'offers'),
  );
}

/** Finds the product's line in the reader's list; undefined if the list has no such line or is still being compared. */
async function findOwnLine(
  product: string,
  currency: string,
  { snapshot, ask }: PageRequest,
): Promise<ReadValue | undefined> {
  if (snapshot.list?.isMade !== true) return undefined;
  const lines = await ask({ analysis: 'watched_lines', set: { product }, limit: 20 });
  return readAll(lines).find((read) => read('currency') === currency);
}

/** Returns the address of the picture used by most listings, if its host is among those that the reader allows. */
async function choosePicture(product: string, { ask, pictures }: PageRequest): Promise<string | undefined> {
  if (pictures.size === 0) return undefined;
  const found = await ask({ analysis: 'product_pictures', set: { product }, limit: 20 });
  const addresses = readAll(found).flatMap((read) => toText(read('image')) ?? []);
  return addresses.find((address) => URL.canParse(address) && pictures.has(new URL(address).host));
}

/**
 * Returns the verdicts on announced reductions. Skips the query if no offer has one, because planning the query takes
 * 50 ms of CPU time.
 */
async function findReductions(offered: Answer, set: Question['set'], ask: PageRequest['ask']): Promise<ReadValue[]> {
  if (!readAll(offered).some((read) => announcesReduction(read('regular_price'), read('price')))) return [];
  const top = String(MOST_REDUCTIONS);
  return readAll(await ask({ analysis: 'reductions', set: { ...set, top }, limit: MOST_REDUCTIONS }));
}

/** Renders the offers. If shops announce reductions, a column shows whether the price history supports them. */
function renderOffers(answer: Answer, question: Question, currency: string, reductions: readonly ReadValue[]): Html {
  const verdicts = new Map(reductions.map((read) => [read('item_id'), String(read('verdict'))]));
  const announced: ShownColumn = {
    name: 'regular_price',
    label: 'Announced as',
    show: (regular, read) => showReduction(regular, read('price') ?? null, verdicts.get(read('item_id') ?? null)),
  };
  const left = readAll(answer).filter((read) => read('is_counted') !== true).length;
  return renderAnswer(answer, question, {
    caption: `${countOf(answer.rows.length, 'offer')} in ${currency}, the cheapest first${left === 0 ? '' : `; ${left} left out of all figures, each for the reason given`}`,
    columns: [
      'shop',
      'price',
      { name: 'delivered_price', label: 'Delivered' },
      { name: 'availability', label: 'Stock' },
      ...(readAll(answer).some((read) => announcesReduction(read('regular_price'), read('price'))) ? [announced] : []),
      { name: 'reason', label: 'Left out because' },
      { name: 'unit_price', label: 'Per unit' },
      'unit',
      { name: 'previous_price', label: 'Before' },
      { name: 'price_changed_at', label: 'Since' },
      { name: 'last_seen_at', label: 'Last seen' },
      { name: 'url', label: 'Page' },
    ],
    brief: ['price', 'delivered_price', 'availability', 'reason'],
    empty: 'No shop lists it now.',
  });
}

/** True if the regular price is above the current price. */
function announcesReduction(regular: DuckDBValue, price: DuckDBValue): boolean {
  const [was, now] = [regular, price].map(toNumber);
  return was !== undefined && now !== undefined && was > now;
}

function showReduction(regular: DuckDBValue, price: DuckDBValue, verdict: string | undefined): Content {
  if (!(regular instanceof DuckDBDecimalValue) || !announcesReduction(regular, price)) return NONE;
  return html`<span class="money">was ${trimCents(regular.toString())}</span>${verdict === undefined ? '' : html` <small class="${verdict === 'not honest' ? 'bad' : ''}">${verdict}</small>`}`;
}

const NONE = html`<span class="none">–</span>`;
