import { DuckDBListValue } from '@duckdb/node-api';
import { type Content, html } from '../../formats/html.js';
import { formatPercent } from '../format.js';
import type { PageRequest } from '../page.js';
import type { Answer } from '../question.js';
import type { ShownColumn } from '../table.js';
import { type ReadValue, readAll, toNumber } from '../values.js';

const WIDTH = 100;
const HEIGHT = 24;

/**
 * Adds a column with the best price of each row's product over the last 30 days. The rows need `product_id` and
 * `currency`.
 */
export async function askForSparklines(answers: readonly Answer[], ask: PageRequest['ask']): Promise<ShownColumn> {
  const rows = answers.flatMap((answer) => readAll(answer));
  const markets = new Map(
    rows.filter((read) => read('product_id') !== null).map((read) => [toKey(read), toMarket(read)]),
  );
  const known = new Map<string, Content>();
  if (markets.size > 0) {
    const set = { markets: JSON.stringify([...markets.values()]) };
    for (const read of readAll(await ask({ analysis: 'recent_prices', set, limit: markets.size })))
      known.set(toKey(read), drawSparkline(readPrices(read)));
  }
  // A column must have the name of a column of the answer. Copied tables leave its cells empty.
  return {
    name: 'product_id',
    label: '30 days',
    show: (product, read) => known.get(JSON.stringify([product, read('currency')])) ?? '',
  };
}

const toKey = (read: ReadValue) => JSON.stringify([read('product_id'), read('currency')]);
const toMarket = (read: ReadValue) => ({ product: String(read('product_id')), currency: String(read('currency')) });

const readPrices = (read: ReadValue): (number | undefined)[] => {
  const prices = read('prices');
  return prices instanceof DuckDBListValue ? prices.items.map((one) => toNumber(one ?? null)) : [];
};

/** Draws a small step line without axes. It has a gap where no price is known. */
export function drawSparkline(prices: readonly (number | undefined)[]): Content {
  const known = prices.filter((price) => price !== undefined);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return '';
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const step = WIDTH / prices.length;
  const y = (price: number) => (high === low ? HEIGHT / 2 : round(2 + ((HEIGHT - 4) * (high - price)) / (high - low)));
  const path = prices.map((price, k) => {
    if (price === undefined) return '';
    return `${prices[k - 1] === undefined ? `M${round(k * step)} ${y(price)}` : `V${y(price)}`}H${round((k + 1) * step)}`;
  });
  const change = (100 * (last - first)) / first;
  const told = change === 0 ? 'no change' : `${change > 0 ? '+' : ''}${formatPercent(change)}`;
  return html`<svg role="img" aria-label="${told} in 30 days" class="spark" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none"><path d="${path.join('')}"/></svg>`;
}

const round = (value: number) => Math.round(value * 10) / 10;
