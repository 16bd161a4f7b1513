import { type Content, html } from '../formats/html.js';
import { askByMarket } from './by-market.js';
import type { ReadCell } from './cells.js';
import { type Dates, nameEnds, toMoments } from './dates.js';
import { foreign, formatDifference, formatMoney } from './format.js';
import type { PageRequest } from './page.js';
import type { Answer } from './question.js';
import type { ShownColumn } from './table.js';
import { toText } from './values.js';

/**
 * Returns table columns with each product's lowest price at the start and at the end of a period, the shops that
 * charged it, and the change. The table's rows need `product_id` and `currency`. Returns an empty array if `dates` is
 * undefined.
 */
export async function askForDates(
  dates: Dates | undefined,
  answers: readonly Answer[],
  ask: PageRequest['ask'],
): Promise<ShownColumn[]> {
  if (dates === undefined) return [];
  const find = await askByMarket(answers, { analysis: 'compared_markets', set: toMoments(dates) }, ask);
  const column = (label: string, name: string, show: (text: string, row: ReadCell) => Content): ShownColumn => {
    const read = (row: ReadCell) => toText(find(row)?.(name) ?? null);
    return {
      name: 'product_id',
      label,
      copied: { name, read },
      show: (_, row) => {
        const text = read(row);
        return text === undefined ? html`<span class="none">–</span>` : show(text, row);
      },
    };
  };
  const withShop = (name: string) => (price: string, row: ReadCell) =>
    html`<span class="money">${formatMoney(price)}</span> <small>${foreign(toText(find(row)?.(name) ?? null) ?? null, 40)}</small>`;
  const [first, last] = nameEnds(dates);
  return [
    column(`Lowest, ${toSmall(first)}`, 'price_before', withShop('shop_before')),
    column(`Lowest, ${toSmall(last)}`, 'price_after', withShop('shop_after')),
    column('Change', 'change_pct', (percent) => formatDifference(Number(percent), '%')),
  ];
}

const toSmall = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
