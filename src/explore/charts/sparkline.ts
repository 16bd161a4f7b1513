import { DuckDBListValue } from '@duckdb/node-api';
import { type Content, html } from '../../formats/html.js';
import { askByMarket } from '../by-market.js';
import type { ReadCell } from '../cells.js';
import { formatDifference } from '../format.js';
import type { PageRequest } from '../page.js';
import type { Answer } from '../question.js';
import type { ShownColumn } from '../table.js';
import { type ReadValue, toNumber } from '../values.js';

const WIDTH = 100;
const HEIGHT = 24;

/**
 * Returns a column with a small chart of each product's best price over the last 30 days. Rows need `product_id` and
 * `currency`.
 */
export async function askForSparklines(answers: readonly Answer[], ask: PageRequest['ask']): Promise<ShownColumn> {
  const find = await askByMarket(answers, { analysis: 'recent_prices', set: {} }, ask);
  const read = (row: ReadCell): (number | undefined)[] => {
    const found = find(row);
    return found === undefined ? [] : readPrices(found);
  };
  return {
    name: 'product_id',
    label: '30 days',
    copied: { name: 'change_30_days_pct', read: (row) => measureChange(read(row))?.toString() },
    show: (_, row) => drawSparkline(read(row)),
  };
}

const readPrices = (read: ReadValue): (number | undefined)[] => {
  const prices = read('prices');
  return prices instanceof DuckDBListValue ? prices.items.map((one) => toNumber(one ?? null)) : [];
};

/** Returns the percentage change from the first known price to the last, or undefined if all prices are unknown. */
function measureChange(prices: readonly (number | undefined)[]): number | undefined {
  const known = prices.filter((price) => price !== undefined);
  const [first, last] = [known[0], known.at(-1)];
  return first === undefined || last === undefined ? undefined : (100 * (last - first)) / first;
}

/** Draws a small step line without axes, with gaps where the price is unknown; empty if all prices are unknown. */
export function drawSparkline(prices: readonly (number | undefined)[]): Content {
  const known = prices.filter((price) => price !== undefined);
  const change = measureChange(prices);
  if (change === undefined) return '';
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const step = WIDTH / prices.length;
  const y = (price: number) => (high === low ? HEIGHT / 2 : round(2 + ((HEIGHT - 4) * (high - price)) / (high - low)));
  const path = prices.map((price, k) => {
    if (price === undefined) return '';
    return `${prices[k - 1] === undefined ? `M${round(k * step)} ${y(price)}` : `V${y(price)}`}H${round((k + 1) * step)}`;
  });
  return html`<svg role="img" aria-label="${formatDifference(change, '%')} in 30 days" class="spark" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none"><path d="${path.join('')}"/></svg>`;
}

const round = (value: number) => Math.round(value * 10) / 10;
