import type { Database } from '../duckdb/connection.js';
import { PricelakeError } from '../errors.js';
import { readOne, readRows } from './read-rows.js';
import * as rows from './rows.js';

export interface ReportSelection {
  /** ISO 4217 code; all currencies without it. */
  currency: string | undefined;
  /** Widest spreads among products in so many shops or more; without it four, or as many as there are. */
  minShops: number | undefined;
  /** Rows of the table of the widest spreads. */
  top: number;
  /** Products whose price history is shown; without any, some of the widest spreads. */
  products: readonly string[];
}

/** A product with its offers and what each of them cost from when on. */
export interface ProductHistory {
  product: rows.Product;
  offers: rows.Offer[];
  steps: rows.PriceStep[];
}

/** Everything that the report tells of a lake: aggregates and top rows, never whole tables. */
export interface LakeFacts {
  selection: ReportSelection;
  overview: rows.Overview;
  runs: rows.Run[];
  checks: rows.CheckRow[];
  datasets: rows.Dataset[];
  changes: rows.DayChanges[];
  summary: rows.SpreadSummary;
  histogram: rows.HistogramStep[];
  categories: rows.Category[];
  spreads: rows.Spread[];
  shops: rows.Shop[];
  histories: ProductHistory[];
  credits: rows.Credit[];
}

export const CHANGE_DAYS = 60;
export const HISTORY_DAYS = 90;
export const OFFERS_SHOWN = 10;
const RUNS = 10;
const DATASETS = 50;
const CATEGORIES = 30;
const SHOPS = 100;
const PRODUCTS = 6;
/** Points of a price line: more could not be told apart. */
const POINTS = 180;

/**
 * Reads the facts from the views of the tables.
 * @throws PricelakeError `usage` when a product of the selection is not in the lake.
 */
export async function readFacts(db: Database, selection: ReportSelection): Promise<LakeFacts> {
  const currency = selection.currency ?? null;
  const overview = await readOne(db, 'report_overview.sql', rows.overviewRow);
  const summary = await readOne(db, 'spread_summary.sql', rows.summaryRow, {
    currency,
    min_shops: selection.minShops ?? null,
  });
  const widest = { currency, min_shops: summary.min_shops, with_outliers: false, top: selection.top };
  return {
    selection,
    overview,
    runs: await readRows(db, 'report_runs.sql', rows.runRow, { top: RUNS }),
    checks: await readRows(db, 'report_checks.sql', rows.checkRow),
    datasets: await readRows(db, 'report_datasets.sql', rows.datasetRow, { top: DATASETS }),
    changes: await readRows(db, 'changes_by_day.sql', rows.changesRow, { days: CHANGE_DAYS }),
    summary,
    histogram: await readRows(db, 'spread_histogram.sql', rows.histogramRow, { currency }),
    categories: await readRows(db, 'spread_by_category.sql', rows.categoryRow, { currency, top: CATEGORIES }),
    spreads: await readRows(db, 'widest_spreads.sql', rows.spreadRow, widest),
    shops: await readRows(db, 'shop_prices.sql', rows.shopRow, { currency, top: SHOPS }),
    histories: await readHistories(db, selection, summary.min_shops),
    credits: await readRows(db, 'report_credits.sql', rows.creditRow),
  };
}

async function readHistories(db: Database, selection: ReportSelection, minShops: bigint): Promise<ProductHistory[]> {
  const asked = selection.products.map(toProductId);
  const products = await readRows(db, 'report_products.sql', rows.productRow, {
    product_ids: asked,
    currency: selection.currency ?? null,
    min_shops: minShops,
    top: asked.length === 0 ? PRODUCTS : asked.length,
  });
  requireAll(asked, products, selection.currency);
  if (products.length === 0) return [];
  const offers = await readRows(db, 'product_offers.sql', rows.offerRow, {
    product_ids: products.map(({ product_id }) => product_id),
    currencies: products.map(({ currency }) => currency),
    top: OFFERS_SHOWN,
  });
  const steps = await readRows(db, 'price_steps.sql', rows.stepRow, {
    item_ids: offers.map(({ item_id }) => item_id),
    days: HISTORY_DAYS,
    points: POINTS,
  });
  return products.map((product) => {
    const own = offers.filter(({ product_id }) => product_id === product.product_id);
    const ids = new Set(own.map(({ item_id }) => item_id));
    return { product, offers: own, steps: steps.filter(({ item_id }) => ids.has(item_id)) };
  });
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
    hint: 'Product ids stand in the column product_id of products, e.g. in `pricelake spread --format csv`.',
  });
}
