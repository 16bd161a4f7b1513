import type { DuckDBValue } from '@duckdb/node-api';
import { findNewestTime } from '../../analyze/analysis.js';
import { type Conversion, prepareConversion } from '../../analyze/exchange-rates.js';
import { toProductId } from '../../analyze/known-values.js';
import { type ProductDay, readProductDays } from '../../analyze/product-view.js';
import { PricelakeError } from '../../io/errors.js';
import type { Database } from '../../sql/connection.js';
import { RelationGraph } from '../../sql/graph.js';
import { readAnalysis } from '../../sql/model.js';
import { itself } from '../../sql/sql.js';
import { valueToText } from '../../sql/value-json.js';
import type { CommandContext } from '../command.js';
import { wrapText } from '../output/display-width.js';
import { showAmount, trimZeros } from '../output/money.js';
import { drawPriceChart } from '../output/price-chart.js';
import { readTableResult, withoutEmpty } from '../output/result-set.js';
import { isForEyes, type ResultRequest, writeResult } from '../output/write-result.js';
import { toPlainLine } from '../plain-text.js';
import type { OpenedLake } from '../read-lake.js';

export interface ProductRequest extends ResultRequest {
  product: string;
  currency?: string | undefined;
  /** The first day of the chart; default: 90 days ago. */
  since?: string | undefined;
  conversion: Conversion | undefined;
}

const CREDITS = 'SELECT DISTINCT attribution AS text FROM shown_offers WHERE attribution IS NOT NULL ORDER BY text';

const SHOWN = {
  currency: 'currency',
  price: 'price',
  converted_price: 'in base',
  shop: 'shop',
  reason: 'remark',
  availability: 'availability',
  delivered_price: 'delivered',
  title: 'title',
  previous_price: 'before',
  price_changed_at: 'changed on',
  unit_price: 'per unit',
  unit: 'unit',
  item_id: 'item',
} as const;

const DAY_MS = 24 * 3600 * 1000;
const CHART_DAYS = 90;

/**
 * Shows one product's offers and price chart. The variables of `selectSpreads` must already be set.
 * @throws PricelakeError `usage` if the product has no listed offers
 */
export async function showProduct(opened: OpenedLake, request: ProductRequest, context: CommandContext) {
  const { db } = opened;
  await createOffers(db, request.conversion);
  const currency = await findCurrency(db, request);
  const onScreen = isForEyes(request, context) && request.output === undefined;
  if (onScreen)
    await context.output.write(await describeProduct(db, toProductId(request.product), context.output.columns));
  const headings = await withoutEmpty(db, 'shown_offers', SHOWN, ['availability', 'delivered_price']);
  const result = await readTableResult(opened, 'shown_offers', CREDITS);
  const report = await writeResult(result, request, context, { headings, show });
  if (onScreen && currency !== undefined) await writeChart(db, request, currency, context);
  return report;
}

function show(name: string, value: DuckDBValue, read: (name: string) => DuckDBValue): DuckDBValue {
  if (name === 'price_changed_at' && value !== null) return valueToText(value).slice(0, 10);
  // Removes trailing zeros, because the prices in a reason have four decimals.
  if (name === 'reason' && typeof value === 'string') return trimZeros(value);
  return showAmount(name, value, read('currency'));
}

async function createOffers(db: Database, conversion: Conversion | undefined): Promise<void> {
  await db.run(`CREATE OR REPLACE TABLE shown_offers AS ${readAnalysis('offers')}`);
  if (conversion === undefined) return;
  await prepareConversion(db, conversion);
  await db.run(`CREATE OR REPLACE TABLE shown_offers AS
    SELECT shown_offers.*, converted.price AS converted_price, converted.currency AS converted_currency
    FROM shown_offers LEFT JOIN (SELECT item_id, price, currency
      FROM (${readAnalysis('converted_items')}) WHERE product_id = getvariable('product')) AS converted USING (item_id)
    ORDER BY converted_price NULLS LAST, item_id`);
}

/** Returns the most frequent currency of the product's offers, or undefined if no offer has a price. */
async function findCurrency(db: Database, { product, currency }: ProductRequest): Promise<string | undefined> {
  if ((await db.row('FROM shown_offers LIMIT 1')) === undefined) {
    const where = currency === undefined ? '' : ` in ${currency}`;
    throw new PricelakeError('usage', `--product ${product} has no listed offers${where}`, {
      hint: 'Use a product_id from the products table, or a GTIN.',
    });
  }
  const row = await db.row(`SELECT currency FROM shown_offers WHERE price > 0 AND currency IS NOT NULL
    GROUP BY currency ORDER BY count(*) DESC, currency LIMIT 1`);
  return row && String(row.currency);
}

async function describeProduct(db: Database, product: string, columns: number | undefined): Promise<string> {
  const row = await db.row('SELECT title, brand, category_path FROM products WHERE product_id = $1', [product]);
  const parts = [row?.title, row?.brand, row?.category_path].filter((part) => typeof part === 'string');
  return `${wrapText([product, ...parts].map((part) => toPlainLine(String(part))).join(' · '), columns, '  ')}\n\n`;
}

async function writeChart(
  db: Database,
  { product, since }: ProductRequest,
  currency: string,
  { output, style }: CommandContext,
): Promise<void> {
  // The chart ends at the newest time in the lake, because later prices are unknown.
  const newest = await findNewestTime(new RelationGraph(db), { history: itself('history'), items: itself('items') });
  const until = newest?.getTime() ?? 0;
  const last = new Date(until).toISOString().slice(0, 10);
  const first = since ?? new Date(until - (CHART_DAYS - 1) * DAY_MS).toISOString().slice(0, 10);
  const days = await readProductDays(db, toProductId(product), currency, { first, last });
  const [begin] = days;
  if (begin === undefined) return;
  const chart = drawPriceChart(fillDays(begin.day, last, days), {
    labels: { first: begin.day, last },
    width: output.columns,
    style,
  });
  await output.write(
    `\n${currency}: ░ lowest to highest trusted price, ━ median, at the end of each UTC day\n\n${chart}`,
  );
}

/** Returns an entry for every day from `first` to `last`. The entry of a day without offers is undefined. */
function fillDays(first: string, last: string, days: ProductDay[]): (ProductDay | undefined)[] {
  const byDay = new Map(days.map((day) => [day.day, day]));
  const filled: (ProductDay | undefined)[] = [];
  for (let at = Date.parse(first); at <= Date.parse(last); at += DAY_MS) {
    filled.push(byDay.get(new Date(at).toISOString().slice(0, 10)));
  }
  return filled;
}
