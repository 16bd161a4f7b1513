import type { Grade } from '../../analyze/spread-selection.js';
import { declareCommand } from '../command.js';
import { choice, type Form, flag, text, value, whole } from '../parameter.js';
import { CREDITS_NOTE, currency, LAKE, PIPELINE, RATES, RESULT } from '../shared-options.js';

// Written out, because their room loads DuckDB.
const GRADES = ['A', 'B', 'C'] as const satisfies Grade[];

/** A day, or a number of days to go back from now. */
export type FirstDay = { day: string } | { daysAgo: number };

const FIRST_DAY: Form<FirstDay> = {
  what: 'a day such as 2026-11-20, or a time such as 30d',
  parse: (typed) => {
    const [, days] = /^(\d{1,4})d$/u.exec(typed) ?? [];
    if (days !== undefined) return { daysAgo: Number(days) };
    return /^\d{4}-\d{2}-\d{2}$/u.test(typed) && !Number.isNaN(Date.parse(typed)) ? { day: typed } : undefined;
  },
  placeholder: 'DAY',
};

export const spread = declareCommand({
  name: 'spread',
  describe: 'Show the products with the widest price spreads, or the offers of one',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    currency: currency('Only this ISO 4217 code'),
    category: text('Only this category (slug or path) and those below it', { completes: 'categories' }),
    brand: text('Only this brand, in upper or lower case', { completes: 'brands' }),
    product: text('Show the offers of this product_id or GTIN, cheapest first, and its price history'),
    minShops: whole('Only products in at least this many shops', { from: 0, default: 2 }),
    top: whole('Number of products', { from: 0, default: 20 }),
    outliers: flag('Include products with a price far from all others (marked !)', { default: true }),
    grade: choice(GRADES, 'Lowest grade to show; A is most trustworthy, C shows all', { default: 'B' }),
    daily: flag('One row for each product and closed day (UTC)'),
    since: value(FIRST_DAY, 'First day of --daily (default 30d) or of the price history (90d): 2026-10-01 or 30d'),
    ...RATES,
    ...RESULT,
  },
  examples: [
    ['pricelake spread --currency EUR --min-shops 3', 'Widest spreads among products in three shops'],
    ['pricelake spread --category kitchen --grade A --top 100 --format csv', 'Only spreads without doubtful offers'],
    ['pricelake spread --product 4006381333931', 'One product: its offers and its price history'],
    ['pricelake spread --daily --since 90d --format parquet --output days.parquet', 'Day by day'],
    ['pricelake spread --fx ecb.csv', 'Across currencies, with your own rates'],
  ],
  notes: `spread % is 100 * (max - min) / min over the prices that can be trusted; other formats call them trusted_*. To see what is left out and why, use --product, or column reason of table offers.
A rate is how much of the currency one unit of the base buys, from its date on until the next, as central banks publish it (2026-11-20,PLN,4.2435). Prices in a currency without a rate are left out.
${CREDITS_NOTE}`,
});
