import type { DuckDBValue } from '@duckdb/node-api';
import { countOf } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { drawPriceLines, type PriceLine } from '../charts/price-lines.js';
import { type Dates, nameDates, nameEnds, readDates, renderDates, toMoments } from '../dates.js';
import { onlyIn } from '../edition.js';
import { dayOf } from '../format.js';
import { changeAddress, type PageRequest, renderFilters } from '../page.js';
import type { Answer, Question } from '../question.js';
import { renderAnswer } from '../table.js';
import { readAll, toDate } from '../values.js';

const SPANS = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: 'all', label: 'All' },
];
const USUAL_SPAN = '90';
const MOST_STEPS = 5_000;
const MOST_SPELLS = 200;
const MOST_OUTS = 200;
const DAY_MS = 86_400_000;

interface Shown {
  /** The path of the product's page. */
  path: string;
  product: string;
  currency: string;
  /** True if any shop reports whether the product is in stock. */
  hasStock: boolean;
  /** The reader's own price as decimal text. */
  own: string | undefined;
}

/** Draws the prices of a product over time, one line per shop, with links to other time spans. */
export async function renderPriceChart({ path, product, currency, own }: Shown, request: PageRequest): Promise<Html> {
  const { search, ask } = request;
  const dates = readDates(search);
  const span = SPANS.find(({ value }) => value === search.get('days'))?.value ?? USUAL_SPAN;
  const steps = await ask({ analysis: 'shop_prices', set: { product, currency }, limit: MOST_STEPS });
  const links = SPANS.map(
    ({ value, label }) =>
      html`<li><a href="${changeAddress(path, search, { days: value, currency, date: '', until: '' })}"${value === span && dates === undefined ? html` aria-current="true"` : ''}>${label}</a></li>`,
  );
  return html`<div><figure class="chart prices">${onlyIn('served', html`<ul class="spans" aria-label="Time shown">${links}</ul>`)}
${drawSteps(steps, { currency, own, span, dates })}</figure>
${renderFilters(path, renderDates(search, 'Compare'), { currency })}
${dates === undefined ? '' : await renderDatesCompared(product, currency, dates, ask)}</div>`;
}

/** Renders a table with the prices of each listing at the start and at the end of a period. */
async function renderDatesCompared(
  product: string,
  currency: string,
  dates: Dates,
  ask: PageRequest['ask'],
): Promise<Html> {
  const set = { product, currency, ...toMoments(dates), top: String(MOST_SPELLS) };
  const question: Question = { analysis: 'compared_listings', set, limit: MOST_SPELLS };
  const [before, after] = nameEnds(dates);
  return renderAnswer(await ask(question), question, {
    caption: `Prices in ${currency} ${nameDates(dates)}`,
    columns: [
      'shop',
      { name: 'price_before', label: before },
      { name: 'price', label: after },
      'change',
      { name: 'change_pct', label: 'Change %' },
      { name: 'moved_at', label: 'When', show: (moved, read) => (read('kind') === 'same' ? '' : showDay(moved)) },
    ],
    empty: 'No shop is known to have sold it at either of these days.',
  });
}

const showDay = (value: DuckDBValue): Content => {
  const at = toDate(value);
  return at === undefined ? '' : dayOf(at);
};

function drawSteps(
  answer: Answer,
  { currency, own, span, dates }: Pick<Shown, 'currency' | 'own'> & { span: string; dates: Dates | undefined },
): Content {
  const lines = readLines(answer);
  const steps = lines.flatMap((line) => line.steps);
  if (steps.length === 0) return html`<p class="soft">No price of an offer that can be compared is known.</p>`;
  const newest = Math.max(...steps.map(({ to }) => to.getTime()));
  const begin = Math.min(...steps.map(({ from }) => from.getTime()));
  const end = dates?.until === undefined ? newest : Math.min(newest, Date.parse(dates.until) + DAY_MS);
  const start = dates !== undefined ? Date.parse(dates.since) : span === 'all' ? begin : end - Number(span) * DAY_MS;
  const [from, to] = [new Date(Math.min(start, end - DAY_MS)), new Date(end)];
  const inside = lines.filter((line) => line.steps.some((step) => step.to > from && step.from <= to));
  if (inside.length === 0) return html`<p class="soft">No price is known in this time.</p>`;
  const shops = countOf(inside.length, 'shop');
  const isPast = end < newest;
  const label = `Prices of ${shops} over time in ${currency}. The table “Prices in figures” has each price.`;
  return html`${drawPriceLines({ lines, from, to, currency, own, isPast, label })}
<figcaption>The lowest price of each shop in ${currency}. A line breaks while a shop did not list the product or had none in stock${lines.some(({ isAside }) => isAside) ? '; dashed lines are of shops without an offer that counts today' : ''}.${answer.hasMore ? ' There are more prices than are drawn.' : ''}</figcaption>`;
}

/** Converts rows of shop_prices.sql to one line per shop, in the order of the rows, which is by ascending price. */
function readLines(answer: Answer): PriceLine[] {
  const lines = new Map<string, PriceLine & { steps: PriceLine['steps'][number][] }>();
  for (const read of readAll(answer)) {
    const [from, to] = [toDate(read('from_at')), toDate(read('until_at'))];
    if (from === undefined || to === undefined) continue;
    const site = String(read('site_id'));
    const line = lines.get(site) ?? { name: String(read('shop')), steps: [], isAside: read('is_counted') !== true };
    const text = String(read('price'));
    line.steps.push({ from, to, price: Number(text), text });
    lines.set(site, line);
  }
  return [...lines.values()];
}

/** Renders collapsed tables of every listing's price history and its out-of-stock periods. */
export async function renderPastFigures({ product, currency, hasStock }: Shown, { ask }: PageRequest): Promise<Html> {
  const spells: Question = { analysis: 'product_spells', set: { product, currency }, limit: MOST_SPELLS };
  const stock: Question = { analysis: 'stock_outs', set: { product }, limit: MOST_OUTS };
  const [lasted, out] = await Promise.all([ask(spells), hasStock ? ask(stock) : undefined]);
  return html`<details><summary>Prices in figures</summary>${renderAnswer(lasted, spells, {
    caption: `Each price of each listing in ${currency}, those that are left out as well`,
    columns: ['shop', 'price', 'from_at', 'to_at', 'began', 'ended', 'is_suspect', 'item_id'],
  })}</details>${
    out === undefined
      ? ''
      : html`<details><summary>Times without stock</summary>${renderAnswer(out, stock, {
          caption: 'When its listings were out of stock',
          columns: ['shop', 'from_at', 'to_at', { name: 'from_known', label: 'Beginning known' }, 'item_id'],
          empty: 'None is known.',
        })}</details>`
  }`;
}
