import { DuckDBDecimalValue, type DuckDBValue } from '@duckdb/node-api';
import { countOf } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { showAmount } from '../cells.js';
import { dayOf, foreign, formatDifference, formatMoney, formatPercent, money } from '../format.js';
import { type Figure, renderFigures } from '../page.js';
import { type ReadValue, toDate, toNumber, toText } from '../values.js';

export interface Decision {
  /** The product's row in the result of find_products.sql. */
  card: ReadValue;
  currency: string;
  /** The rows of offers.sql, cheapest first. */
  offers: readonly ReadValue[];
  /** The rows of best_prices.sql for the last 30 days, the last 90 days and all known time, in this order. */
  best: readonly ReadValue[];
  /** The rows of reductions.sql. */
  reductions: readonly ReadValue[];
  /** The reader's own price as decimal text. */
  own: string | undefined;
}

/** Renders the best price now and how it compares with past prices. Ignores offers that comparisons leave out. */
export function renderDecision(decision: Decision): { figures: Html; ranges: Html } {
  return {
    figures: renderFigures(listFigures(decision)),
    ranges: html`${describeLow(decision)}${renderRanges(decision)}${describeReductions(decision)}`,
  };
}

function listFigures({ card, currency, offers, best, own }: Decision): Figure[] {
  const counted = offers.filter((read) => read('is_counted') === true);
  const inStock = counted.find((read) => read('availability') === 'in stock');
  const cheapest = counted[0];
  const delivered = counted
    .filter((read) => toNumber(read('delivered_price')) !== undefined)
    .sort((a, b) => (toNumber(a('delivered_price')) ?? 0) - (toNumber(b('delivered_price')) ?? 0))[0];
  const amount = (value: DuckDBValue, name = 'price'): Content =>
    value instanceof DuckDBDecimalValue ? money(showAmount(name, value), currency) : '–';
  const quote = (name: string, read: ReadValue | undefined, column = 'price', note: Content = ''): Figure => ({
    name,
    value: amount(read?.(column) ?? null),
    note: read === undefined ? '' : html`${foreign(toText(read('shop')) ?? null, 60)}${describeAge(read)}${note}`,
  });
  // If the lowest price is shown twice, only the first figure shows its change.
  const change = (name: string, unit: '%' | 'points' | '') => describeChange(best[0], `${name}_change`, unit);
  const isUnsure = inStock === undefined || toNumber(cheapest?.('price') ?? null) !== toNumber(inStock('price'));
  const spread = card('spread_pct');
  const leftOut = card('left_out');
  return [
    ...(inStock === undefined
      ? []
      : [quote('Lowest in stock now', inStock, 'price', isUnsure ? '' : html`<br>${change('lowest', '%')}`)]),
    ...(cheapest === undefined
      ? [{ name: 'Lowest now', value: '–', note: 'no offer counts' }]
      : isUnsure
        ? [
            quote(
              `Lowest, ${toText(cheapest('availability')) ?? 'stock not known'}`,
              cheapest,
              'price',
              html`<br>${change('lowest', '%')}`,
            ),
          ]
        : []),
    ...(delivered === undefined ? [] : [quote('Lowest delivered', delivered, 'delivered_price')]),
    ...(own === undefined ? [] : [describeOwn(own, currency, cheapest)]),
    { name: 'Median', value: amount(card('median_price'), 'median_price'), note: change('median', '%') },
    { name: 'Most expensive', value: amount(card('max_price')), note: change('highest', '%') },
    {
      name: 'Spread',
      value: typeof spread === 'number' ? formatPercent(spread) : '–',
      note: html`${card('grade') === null ? '' : html`grade ${toText(card('grade'))}: `}${foreign(toText(card('grade_reason'))?.replaceAll('_', ' ') ?? null, 120)}<br>${change('spread', 'points')}`,
    },
    {
      name: 'Shops',
      value: String(card('shops')),
      note: html`${typeof leftOut === 'bigint' && leftOut > 0n ? html`${countOf(leftOut, 'offer')} left out<br>` : ''}${change('shops', '')}`,
    },
  ];
}

/** Describes how much a figure changed and since when; empty if no past figure is known. */
function describeChange(past: ReadValue | undefined, name: string, unit: '%' | 'points' | ''): Content {
  const [change, since] = [toNumber(past?.(name) ?? null), toDate(past?.('then_at') ?? null)];
  if (change === undefined || since === undefined) return '';
  return html`${formatDifference(change, unit)} since ${dayOf(since)}`;
}

/** Describes how long an offer has had its price, and when the service last saw it. */
function describeAge(read: ReadValue): Content {
  const [since, seen] = [toDate(read('price_changed_at') ?? read('first_seen_at')), toDate(read('last_seen_at'))];
  return html`${since === undefined ? '' : html`, since ${dayOf(since)}`}${seen === undefined ? '' : html`, seen ${dayOf(seen)}`}`;
}

function describeOwn(own: string, currency: string, cheapest: ReadValue | undefined): Figure {
  const [mine, theirs] = [Number(own), toNumber(cheapest?.('price') ?? null)];
  const gap = theirs === undefined ? undefined : (100 * (mine - theirs)) / theirs;
  const note =
    gap === undefined
      ? ''
      : gap === 0
        ? 'as low as the lowest'
        : `${formatPercent(Math.abs(gap))} ${gap > 0 ? 'above' : 'below'} the lowest`;
  return { name: 'Your price', value: money(own, currency), note };
}

const nameSpan = (days: DuckDBValue) => (days === null ? 'all time' : `${String(days)} days`);

/** Describes in one sentence how today's best price compares with its lowest price in 90 days. */
function describeLow({ best, currency }: Decision): Content {
  const of = (days: number) => best.find((read) => toNumber(read('days')) === days);
  const row = of(90) ?? best[0];
  const price = row?.('price');
  const low = row?.('lowest');
  const above = row?.('above_low');
  if (row === undefined || !(price instanceof DuckDBDecimalValue) || !(low instanceof DuckDBDecimalValue)) return '';
  const now = html`Now <strong>${money(price.toString(), currency)}</strong>`;
  if (toNumber(above ?? null) === 0)
    return html`<p class="verdict-line">${now} is the lowest known price of the last 90 days.</p>`;
  const at = toDate(row('lowest_until'));
  return html`<p class="verdict-line">${now} is ${above instanceof DuckDBDecimalValue ? money(above.toString(), currency) : ''} (${formatPercent(toNumber(row('above_low_pct')) ?? 0)}) above the 90-day low of <strong>${money(low.toString(), currency)}</strong> at ${foreign(toText(row('lowest_shop')) ?? null, 60)}${at === undefined ? '' : html`, until ${dayOf(at)}`}.</p>`;
}

/** Shows the range of the best price over the last 30 days, the last 90 days, and all time. */
function renderRanges({ best, currency }: Decision): Content {
  if (best.length === 0) return '';
  const amount = (value: DuckDBValue) =>
    value instanceof DuckDBDecimalValue ? formatMoney(showAmount('median', value)) : '–';
  const rows = best.map((read) => {
    const days = read('days');
    const above = toNumber(read('above_low_pct')) ?? 0;
    const known = toNumber(read('days_known')) ?? 0;
    const isPart = days !== null && known < (toNumber(days) ?? 0) - 1;
    return html`<tr><th scope="row">${nameSpan(days)}${isPart || days === null ? html` <small>${countOf(Math.round(known), 'day')} known</small>` : ''}</th><td class="number">${amount(read('lowest'))}</td><td class="number">${amount(read('mean'))}</td><td class="number">${amount(read('highest'))}</td><td class="number">${above === 0 ? 'the lowest' : `+${formatPercent(above)}`}</td></tr>\n`;
  });
  return html`<div class="frame"><table class="ranges">
<caption><span>Best price in ${currency}: the lowest of all shops with an offer that counts, at each time</span></caption>
<thead><tr><th scope="col">In</th><th scope="col" class="number">Lowest</th><th scope="col" class="number">Average</th><th scope="col" class="number">Highest</th><th scope="col" class="number">Now</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

const FEW = 3;

/** Lists up to three announced reductions, and whether each shop asked less in the 30 days before. */
function describeReductions({ reductions, currency }: Decision): Content {
  if (reductions.length === 0) return '';
  const sentences = reductions.slice(0, FEW).map((read) => html`<li>${describeReduction(read, currency)}</li>\n`);
  const note = reductions.length > FEW ? html`<li>${reductions.length - FEW} more in the table of offers.</li>` : '';
  return html`<h2>Announced reductions</h2><ul class="plain">${sentences}${note}</ul>`;
}

function describeReduction(read: ReadValue, currency: string): Content {
  const amount = (name: string) => {
    const value = read(name);
    return value instanceof DuckDBDecimalValue ? formatMoney(value.toString()) : '–';
  };
  const shop = foreign(toText(read('shop')) ?? null, 60);
  const says = html`${shop} says “was ${amount('regular_price')}, now ${amount('price')} ${currency}”.`;
  switch (read('verdict')) {
    case 'not honest':
      return html`${says} <strong class="bad">Not honest:</strong> it asked ${amount('lowest_before')} within the 30 days before the reduction.`;
    case 'honest':
      return html`${says} <strong>Honest:</strong> its lowest price of the 30 days before was ${amount('lowest_before')}.`;
    default: {
      const known = Math.floor(toNumber(read('days_known')) ?? 0);
      return html`${says} <strong>Not known:</strong> its price is known for ${countOf(known, 'day')} of the 30 before the reduction.`;
    }
  }
}
