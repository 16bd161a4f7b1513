import { type Html, html } from '../../formats/html.js';
import { shortenNames } from '../format.js';

/** Prices of an offer by runs of days. Between two runs it was not listed. */
interface PriceLine {
  name: string;
  runs: { from: Date; to: Date; price: number }[];
  /** Stretches of time without stock. */
  outs?: readonly { from: Date; to: Date }[];
}

/** More lines than these can't be told apart. */
export const MOST_LINES = 8;

const WIDTH = 460;
const LEFT = 48;
const RIGHT = 132;
const TOP = 10;
const PLOT = 190;
const BOTTOM = 22;
const NAME_STEP = 15;
const LONGEST_NAME = 17;
const DAY = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short' });

/**
 * Draws the prices of one product's offers over time as steps, each line with the shop's name at its end. It does
 * without Vega, because a report has many of these. At least one line has a run.
 */
export function drawPriceLines(lines: readonly PriceLine[], span: { from: Date; to: Date }, label: string): Html {
  const drawn = lines.filter(({ runs }) => runs.length > 0).slice(0, MOST_LINES);
  const prices = drawn.flatMap(({ runs }) => runs.map(({ price }) => price));
  const ticks = chooseTicks(Math.min(...prices), Math.max(...prices));
  const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const x = (at: Date) =>
    round(
      LEFT +
        ((at.getTime() - span.from.getTime()) / (span.to.getTime() - span.from.getTime())) * (WIDTH - LEFT - RIGHT),
    );
  const y = (price: number) => round(TOP + PLOT - ((price - low) / (high - low)) * PLOT);
  const labels = shortenNames(
    drawn.map(({ name }) => name),
    LONGEST_NAME,
  );
  const names = placeNames(drawn.map(({ runs }) => y(runs.at(-1)?.price ?? low)));
  const height = Math.max(TOP + PLOT + BOTTOM, ...names.map((at) => at + 8));
  const decimals = high - low >= 20 ? 0 : 2;
  return html`<svg role="img" aria-label="${label}" viewBox="0 0 ${WIDTH} ${height}" class="lines">
<g class="role-axis-grid">${ticks.map((tick) => html`<path d="M${LEFT} ${y(tick)}H${WIDTH - RIGHT}" stroke="var(--line)"/>`)}</g>
${ticks.map((tick) => html`<text x="${LEFT - 8}" y="${y(tick) + 4}" text-anchor="end">${tick.toFixed(decimals)}</text>`)}
${[span.from, new Date((span.from.getTime() + span.to.getTime()) / 2), span.to].map(
  (at, k) =>
    html`<text x="${x(at)}" y="${TOP + PLOT + 18}" text-anchor="${['start', 'middle', 'end'][k]}">${DAY.format(k === 2 ? new Date(at.getTime() - 1) : at)}</text>`,
)}
${drawn.map(({ runs, outs = [] }, k) => {
  const end = runs.at(-1);
  const [endX, endY] = end === undefined ? [0, 0] : [x(end.to), y(end.price)];
  return html`<g class="line-${k + 1}"><path class="price" d="${drawSteps(runs, x, y)}"/>${outs.length === 0 ? '' : html`<path class="out" d="${drawOuts(runs, outs, x, y)}"/>`}
<path class="lead" d="M${endX} ${endY}L${WIDTH - RIGHT + 10} ${names[k]}"/><text class="name" x="${WIDTH - RIGHT + 14}" y="${(names[k] ?? 0) + 4}">${labels[k]}</text></g>\n`;
})}</svg>`;
}

function drawSteps(runs: PriceLine['runs'], x: (at: Date) => number, y: (price: number) => number): string {
  return runs
    .map(({ from, to, price }, k) => {
      const follows = runs[k - 1]?.to.getTime() === from.getTime();
      return `${follows ? `V${y(price)}` : `M${x(from)} ${y(price)}`}H${x(to)}`;
    })
    .join('');
}

/** The parts of the prices at which the shop had no stock. */
function drawOuts(
  runs: PriceLine['runs'],
  outs: NonNullable<PriceLine['outs']>,
  x: (at: Date) => number,
  y: (price: number) => number,
): string {
  const parts = outs.flatMap((out) =>
    runs.map(({ from, to, price }) => ({
      price,
      from: latest(from, out.from),
      to: earliest(to, out.to),
    })),
  );
  return parts
    .filter(({ from, to }) => from < to)
    .map(({ from, to, price }) => `M${x(from)} ${y(price)}H${x(to)}`)
    .join('');
}

const latest = (a: Date, b: Date) => (a.getTime() > b.getTime() ? a : b);
const earliest = (a: Date, b: Date) => (a.getTime() < b.getTime() ? a : b);

/** Places names as near to their lines as they can be without overlapping. */
function placeNames(wanted: readonly number[]): number[] {
  const order = wanted.map((_, k) => k).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const placed = [...wanted];
  let free = TOP;
  for (const k of order) {
    placed[k] = Math.max(wanted[k] ?? 0, free);
    free = (placed[k] ?? 0) + NAME_STEP;
  }
  // Names that ran over the bottom move up again, the lowest first.
  let below = TOP + PLOT + NAME_STEP / 2;
  for (const k of order.reverse()) {
    placed[k] = Math.max(TOP, Math.min(placed[k] ?? 0, below));
    below = (placed[k] ?? 0) - NAME_STEP;
  }
  return placed.map(round);
}

/**
 * Chooses round prices that enclose all prices. If they differ by a factor of two or more, the axis begins at zero, so
 * that heights compare as prices do.
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
