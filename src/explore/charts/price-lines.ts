import { type Content, type Html, html } from '../../formats/html.js';
import { cutText, foreign, formatDay, formatMoney } from '../format.js';

/** A shop's prices over time. A gap between steps means that the shop didn't sell the product or had none in stock. */
export interface PriceLine {
  name: string;
  steps: readonly PriceStep[];
  /** True if the shop has no offer that counts today. */
  isAside: boolean;
}

export interface PriceStep {
  from: Date;
  to: Date;
  price: number;
  /** The exact price as decimal text; `price` may be rounded. */
  text: string;
}

export interface PriceChart {
  lines: readonly PriceLine[];
  from: Date;
  to: Date;
  currency: string;
  /** The reader's own price as decimal text. */
  own?: string | undefined;
  /** True if the chart ends in the past. */
  isPast: boolean;
  /** Alternative text for screen readers. */
  label: string;
}

/** The maximum number of lines that have different colors. All further lines share a faint color. */
const MOST_COLORED = 8;
const MOST_DRAWN = 40;

/** The size of the drawing in SVG units. The page stretches it to the available width. */
const WIDTH = 1000;
const HEIGHT = 400;
const LONGEST_NAME = 40;

/**
 * Draws prices over time as step lines, one per shop, with a legend below. Only the lines are stretched to the page, so
 * text keeps its size. The page's script reads `data-prices` to show the prices at the time under the pointer. At least
 * one line must have a step between `from` and `to`.
 */
export function drawPriceLines({ lines, from, to, currency, own, isPast, label }: PriceChart): Html {
  const drawn = lines
    .map((line) => ({ ...line, steps: cutSteps(line.steps, from, to) }))
    .filter(({ steps }) => steps.length > 0)
    .slice(0, MOST_DRAWN);
  const prices = drawn.flatMap(({ steps }) => steps.map(({ price }) => price));
  const all = own === undefined ? prices : [...prices, Number(own)];
  const ticks = chooseTicks(Math.min(...all), Math.max(...all));
  const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const x = (at: Date) => round((WIDTH * (at.getTime() - from.getTime())) / (to.getTime() - from.getTime()));
  const y = (price: number) => round((HEIGHT * (high - price)) / (high - low));
  const decimals = high - low >= 20 ? 0 : 2;
  const classOf = (k: number) => (k < MOST_COLORED ? `line-${k + 1}` : 'line-rest');
  // Draws the paths in reverse order, so that the first line, which is that of the cheapest shop, is on top.
  const paths = drawn.map(
    ({ steps, isAside }, k) =>
      html`<path class="price ${classOf(k)}${isAside ? ' aside' : ''}" d="${drawSteps(steps, x, y)}"/>`,
  );
  const middle = new Date((from.getTime() + to.getTime()) / 2);
  const days = [from, middle, new Date(to.getTime() - 1)];
  return html`<div class="plot" data-prices="${describeLines(drawn, { from, to, currency, own })}">
<div class="scale" aria-hidden="true">${ticks.toReversed().map((tick) => html`<span>${tick.toFixed(decimals)}</span>`)}</div>
<svg role="img" aria-label="${label}" class="lines" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none">
<g class="role-axis-grid">${ticks.map((tick) => html`<path d="M0 ${y(tick)}H${WIDTH}" stroke="var(--line)"/>`)}</g>
${own === undefined ? '' : html`<path class="own" d="M0 ${y(Number(own))}H${WIDTH}"/>`}${paths.toReversed()}<rect class="hit" width="${WIDTH}" height="${HEIGHT}"/></svg>
<div class="days" aria-hidden="true">${days.map((day) => html`<span>${formatDay(day)}</span>`)}</div></div>
<ul class="legend">${drawn.slice(0, MOST_COLORED).map((line, k) => renderKey(line, classOf(k), { to, isPast }))}${drawn.length > MOST_COLORED ? html`<li class="line-rest">${drawn.length - MOST_COLORED} more</li>\n` : ''}${own === undefined ? '' : html`<li class="own">Your price <span class="money">${formatMoney(own)}</span></li>\n`}</ul>`;
}

/** Renders a legend entry: the shop's name, and its price at the end of the chart. */
function renderKey(
  { name, steps, isAside }: PriceLine,
  key: string,
  { to, isPast }: Pick<PriceChart, 'to' | 'isPast'>,
): Content {
  const last = steps.at(-1);
  const price =
    last?.to.getTime() === to.getTime()
      ? html` <span class="money">${formatMoney(last.text)}</span>`
      : isPast
        ? ' – not then'
        : ' – not now';
  return html`<li class="${key}${isAside ? ' aside' : ''}">${foreign(name, LONGEST_NAME)}${price}</li>\n`;
}

/** Clips steps to the time range of the chart. */
const cutSteps = (steps: readonly PriceStep[], from: Date, to: Date): PriceStep[] =>
  steps
    // Keeps a step of zero length at the end of the chart, because it is a price that was just seen.
    .filter((step) => step.to > from && step.from <= to)
    .map((step) => ({ ...step, from: step.from < from ? from : step.from, to: step.to > to ? to : step.to }));

/** Builds JSON for the page's script: the name, CSS class and steps of each line, with times in milliseconds. */
function describeLines(
  drawn: readonly PriceLine[],
  { from, to, currency, own }: Pick<PriceChart, 'from' | 'to' | 'currency' | 'own'>,
): string {
  const lines = drawn.map(({ name, steps }, k) => ({
    name: cutText(name, LONGEST_NAME),
    key: k < MOST_COLORED ? `line-${k + 1}` : 'line-rest',
    steps: steps.map((step) => [step.from.getTime(), step.to.getTime(), formatMoney(step.text)]),
  }));
  const whole = [from.getTime(), to.getTime()];
  const mine = own === undefined ? [] : [{ name: 'Your price', key: 'own', steps: [[...whole, formatMoney(own)]] }];
  return JSON.stringify({ from: whole[0], to: whole[1], currency, lines: [...lines, ...mine] });
}

function drawSteps(steps: readonly PriceStep[], x: (at: Date) => number, y: (price: number) => number): string {
  return steps
    .map(({ from, to, price }, k) => {
      const follows = steps[k - 1]?.to.getTime() === from.getTime();
      return `${follows ? `V${y(price)}` : `M${x(from)} ${y(price)}`}H${x(to)}`;
    })
    .join('');
}

/**
 * Chooses round tick values that enclose all prices. If the highest price is at least twice the lowest, ticks start at
 * zero, so that heights are proportional to prices.
 */
function chooseTicks(cheapest: number, highest: number): number[] {
  const lowest = 2 * cheapest <= highest ? 0 : cheapest;
  const room = highest > lowest ? highest - lowest : Math.max(0.02, highest / 10);
  const power = 10 ** Math.floor(Math.log10(room / 3));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => room / one <= 4) ?? room;
  const first = Math.floor((highest > lowest ? lowest : lowest - room / 2) / step + 1e-9);
  const last = Math.ceil((highest > lowest ? highest : highest + room / 2) / step - 1e-9);
  const from = Math.max(0, first);
  return Array.from({ length: Math.max(2, last - from + 1) }, (_, k) => (from + k) * step);
}

const round = (value: number) => Math.round(value * 10) / 10;
