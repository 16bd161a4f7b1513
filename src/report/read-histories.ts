import { DuckDBDateValue, listValue } from '@duckdb/node-api';
import { readAnalysis, setVariables } from '../analyze/analysis.js';
import type { Database } from '../duckdb/connection.js';
import { PricelakeError } from '../errors/errors.js';
import { parseRows, readRows } from './read-rows.js';
import type { ReportSelection } from './report-selection.js';
import * as rows from './rows.js';

/** A product with its offers and what each of them cost from when on. */
export interface ProductHistory {
  product: rows.Product;
  offers: rows.Offer[];
  runs: rows.PriceRun[];
}

export const HISTORY_DAYS = 90;
export const OFFERS_SHOWN = 10;
const PRODUCTS = 6;
const DAY_MS = 86_400_000;

/** What decides beside the selection: products in so many shops, and the newest change, where the time shown ends. */
interface HistoryWindow {
  minShops: bigint;
  until: Date | null;
}

/**
 * Price histories of the products of the selection; without any, of some of the widest spreads.
 * @throws PricelakeError `usage` when a product of the selection is not in the lake.
 */
export async function readHistories(
  db: Database,
  selection: ReportSelection,
  { minShops, until }: HistoryWindow,
): Promise<ProductHistory[]> {
  const asked = selection.products.map(toProductId);
  const products = await readRows(db, 'report_products', rows.productRow, {
    product_ids: asked.length === 0 ? null : listValue(asked),
    currency: selection.currency ?? null,
    min_shops: minShops,
    top: BigInt(asked.length === 0 ? PRODUCTS : asked.length),
  });
  requireAll(asked, products, selection.currency);
  if (products.length === 0 || until === null) return [];
  const offers = await readRows(db, 'product_offers', rows.offerRow, {
    product_ids: listValue(products.map(({ product_id }) => product_id)),
    currencies: listValue(products.map(({ currency }) => currency)),
    top: BigInt(OFFERS_SHOWN),
  });
  const runs = await readPriceRuns(db, offers, until);
  return products.map((product) => {
    const own = offers.filter(({ product_id }) => product_id === product.product_id);
    const ids = new Set(own.map(({ item_id }) => item_id));
    const isOwn = ({ item_id, currency }: rows.PriceRun) => ids.has(item_id) && currency === product.currency;
    return { product, offers: own, runs: runs.filter(isOwn) };
  });
}

/** Runs offer_prices.sql over these few items alone, by giving their rows the names that it reads. */
async function readPriceRuns(db: Database, offers: readonly rows.Offer[], until: Date): Promise<rows.PriceRun[]> {
  if (offers.length === 0) return [];
  const ids = offers.map(({ item_id }) => String(item_id)).join(', ');
  const day = (at: number) => new DuckDBDateValue(Math.floor(at / DAY_MS));
  await setVariables(db, {
    first_day: day(until.getTime() - (HISTORY_DAYS - 1) * DAY_MS),
    last_day: day(until.getTime()),
  });
  for (const table of ['items', 'history']) {
    await db.run(`CREATE OR REPLACE TEMP TABLE shown_${table} AS SELECT * FROM ${table} WHERE item_id IN (${ids})`);
  }
  const reader = await db.connection.runAndReadAll(`WITH
    items AS (FROM shown_items),
    history AS (FROM shown_history),
    runs AS (${readAnalysis('offer_prices')})
    SELECT *, min(price) OVER offer AS lowest, max(price) OVER offer AS highest
    FROM runs
    WINDOW offer AS (PARTITION BY item_id, currency)
    ORDER BY item_id, from_day`);
  return parseRows(reader, rows.priceRunRow);
}

/** All forms of a GTIN are one product: leading zeros are left out (API section 4, /products/{id}). */
function toProductId(given: string): string {
  return /^\d+$/u.test(given) ? given.replace(/^0+(?=\d)/u, '') : given;
}

function requireAll(asked: string[], found: rows.Product[], currency: string | undefined): void {
  const known = new Set(found.map(({ product_id }) => product_id));
  const missing = asked.filter((id) => !known.has(id));
  if (missing.length === 0) return;
  const scope = currency === undefined ? '' : ` in ${currency}`;
  throw new PricelakeError('usage', `--product ${missing.join(', ')}: no listed offer with a price${scope}`, {
    hint: 'Product ids are in the column product_id of products, e.g. in `pricelake spread --format csv`.',
  });
}
