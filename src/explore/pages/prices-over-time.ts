import { countOf, formatCount } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { drawPriceLines, MOST_LINES } from '../charts/price-lines.js';
import { foreign, formatMoney, money } from '../format.js';
import { type PageRequest, renderChoice, renderFilters, renderSection } from '../page.js';
import type { Answer, Question } from '../question.js';
import { renderAnswer } from '../table.js';
import { type ReadValue, readAll, readRow, toDate } from '../values.js';

const SPANS = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
  { value: 'all', label: 'all' },
];
const USUAL_SPAN = '90';
const MOST_SPELLS = 5_000;
const MOST_OUTS = 2_000;
const DAY_MS = 86_400_000;

interface Shown {
  /** Address of the product's page. */
  path: string;
  product: string;
  currency: string;
  /** True if shops say whether they have it. */
  hasStock: boolean;
}

/** A listing without stock. */
interface Out {
  item: string;
  from: Date;
  to: Date;
}

/** The prices of a product's offers over a span of time: today's place in it, a chart, the figures. */
export async function renderPrices({ path, product, currency, hasStock }: Shown, request: PageRequest): Promise<Html> {
  const { search, ask } = request;
  const span = SPANS.find(({ value }) => value === search.get('days'))?.value ?? USUAL_SPAN;
  const days = span === 'all' ? '' : span;
  const spells: Question = { analysis: 'product_spells', set: { product, currency, days }, limit: MOST_SPELLS };
  const stock: Question = { analysis: 'stock_outs', set: { product }, limit: MOST_OUTS };
  const lasted = await ask(spells);
  const out = hasStock ? await ask(stock) : undefined;
  const outs = out === undefined ? [] : readAll(out).map(toOut);
  return renderSection(
    'Prices over time',
    html`${renderFilters(path, [renderChoice('days', 'Span', SPANS, span)], { currency })}
${describeRange(lasted, currency, span !== '7')}
${drawSpells(lasted, outs, currency, span)}
<details><summary>Prices in figures</summary>${renderAnswer(lasted, spells, { caption: `Each price of each offer in ${currency}`, columns: ['shop', 'price', 'from_at', 'to_at', 'began', 'ended', 'is_suspect', 'item_id'] })}</details>${
      out === undefined
        ? ''
        : html`<details><summary>Times without stock</summary>${renderAnswer(out, stock, { caption: 'When its listings were out of stock', columns: ['shop', 'from_at', 'to_at', { name: 'from_known', label: 'Beginning known' }, 'item_id'], empty: 'None is known.' })}</details>`
    }`,
  );
}

const FOREVER = new Date(8.64e15);

const toOut = (read: ReadValue): Out => ({
  item: String(read('item_id')),
  from: toDate(read('from_at')) ?? new Date(0),
  to: toDate(read('to_at')) ?? FOREVER,
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

/** Today's lowest price beside those of the span and of the last 30 days, which a shorter span does not have. */
function describeRange(answer: Answer, currency: string, isMonth: boolean): Content {
  if (answer.hasMore) return '';
  const right = answer.rows.map((row) => toSpell(readRow(answer, row))).filter(({ isSuspect }) => !isSuspect);
  const cheapest = minBy(right.filter(({ isCurrent }) => isCurrent));
  if (cheapest === undefined) return '';
  const prices = right.map(({ price }) => price);
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  const until = Math.max(...right.map(({ to }) => to.getTime()));
  const recent = isMonth ? minBy(right.filter(({ to }) => to.getTime() > until - 30 * DAY_MS)) : undefined;
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
function drawSpells(answer: Answer, outs: readonly Out[], currency: string, span: string): Html {
  const spells = answer.rows.map((row) => toSpell(readRow(answer, row)));
  const right = spells.filter(({ isSuspect }) => !isSuspect);
  const drawn = right.length > 0 ? right : spells;
  const [first] = drawn;
  if (first === undefined) return html`<p class="soft">No known price in this period.</p>`;
  const end = Math.max(...drawn.map(({ to }) => to.getTime()));
  const begin = Math.min(...drawn.map(({ from }) => from.getTime()));
  const start = span === 'all' ? begin : end - Number(span) * DAY_MS;
  const from = new Date(Math.min(start, end - DAY_MS));
  const offers = nameOffers(drawn);
  const lines = [...offers].slice(0, MOST_LINES).map(([item, name]) => {
    const own = drawn.filter((one) => one.item === item);
    const runs = own.map((one) => ({ ...one, from: one.from < from ? from : one.from }));
    return { name, runs, outs: outs.filter((out) => out.item === item) };
  });
  const prices = drawn.map(({ price }) => price);
  const range = `${formatMoney(Math.min(...prices).toFixed(4))} to ${formatMoney(Math.max(...prices).toFixed(4))} ${currency}`;
  const left = offers.size - lines.length;
  const label = `Prices of ${countOf(lines.length, 'offer')} over time, ${range}. The table below has the figures.`;
  return html`<figure class="chart large">${drawPriceLines(lines, { from, to: new Date(end) }, label)}<figcaption>Prices in ${currency}, ${range}${left > 0 ? `; ${countOf(left, 'offer')} not drawn` : ''}${answer.hasMore ? `; the first ${formatCount(answer.rows.length)} prices` : ''}. A line breaks where the shop did not list it${lines.some((line) => line.outs.length > 0) ? ', and is dashed while it had none in stock' : ''}.</figcaption></figure>`;
}

/** Listings with the names of their shops. Those of one shop have numbers, in the order of the prices. */
function nameOffers(spells: readonly Spell[]): Map<string, string> {
  const shops = [...new Map(spells.map(({ item, name }) => [item, name]))];
  const ofShop = (name: string) => shops.filter(([, other]) => other === name).map(([item]) => item);
  return new Map(
    shops.map(([item, name]) => {
      const items = ofShop(name);
      return [item, items.length > 1 ? `${name} ${items.indexOf(item) + 1}` : name];
    }),
  );
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
