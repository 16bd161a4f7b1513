import { DuckDBDateValue, listValue } from '@duckdb/node-api';
import { setVariables } from '../analyze/analysis.js';
import { PricelakeError } from '../io/errors.js';
import type { Database } from '../sql/connection.js';
import { readAnalysis } from '../sql/model.js';
import { parseRows, readRows } from './read-rows.js';
import * as rows from './rows.js';

/** A product with its offers and their past prices. */
export interface ProductHistory {
  product: rows.Product;
  /** True if `--product` names it. */
  isAsked: boolean;
  offers: rows.Offer[];
  runs: rows.PriceRun[];
}

export const HISTORY_DAYS = 90;
export const OFFERS_SHOWN = 20;
const DAY_MS = 86_400_000;

/**
 * Reads the products that `--product` names and those of the widest spreads, each in one currency, with their offers.
 * The prices shown end at `until`, the newest change.
 * @throws PricelakeError `usage` when a product of the selection is not in the lake.
 */
export async function readHistories(
  db: Database,
  { products, currency }: { products: readonly string[]; currency: string | undefined },
  spreads: readonly rows.Spread[],
  until: Date | null,
): Promise<ProductHistory[]> {
  const ids = products.map(toProductId);
  const variables = { product_ids: listValue(ids), currency: currency ?? null };
  const asked = ids.length === 0 ? [] : await readRows(db, 'report_products', rows.productRow, variables);
  requireAll(ids, asked, currency);
  const keys = new Set(asked.map(keyOf));
  const shown: rows.Product[] = [...asked, ...spreads.filter((spread) => !keys.has(keyOf(spread)))];
  if (shown.length === 0) return [];
  const offers = await readRows(db, 'product_offers', rows.offerRow, {
    product_ids: listValue(shown.map(({ product_id }) => product_id)),
    currencies: listValue(shown.map(({ currency }) => currency)),
    top: BigInt(OFFERS_SHOWN),
  });
  const runs = until === null ? [] : await readPriceRuns(db, offers, until);
  const offersOf = groupBy(offers, keyOf);
  const runsOf = groupBy(runs, ({ item_id, currency }) => `${item_id} ${currency}`);
  return shown.map((product) => {
    const own = offersOf.get(keyOf(product)) ?? [];
    const ownRuns = own.flatMap(({ item_id }) => runsOf.get(`${item_id} ${product.currency}`) ?? []);
    return { product, isAsked: asked.includes(product), offers: own, runs: ownRuns };
  });
}

export function keyOf({ product_id, currency }: { product_id: string; currency: string }): string {
  return `${currency} ${product_id}`;
}

function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group === undefined) groups.set(keyOf(value), [value]);
    else group.push(value);
  }
  return groups;
}

/** Runs offer_prices.sql over these few items alone: their rows take the names of the tables that it reads. */
async function readPriceRuns(db: Database, offers: readonly rows.Offer[], until: Date): Promise<rows.PriceRun[]> {
  if (offers.length === 0) return [];
  const ids = offers.map(({ item_id }) => String(item_id)).join(', ');
  const day = (at: number) => new DuckDBDateValue(Math.floor(at / DAY_MS));
  await setVariables(db, {
    first_day: day(until.getTime() - (HISTORY_DAYS - 1) * DAY_MS),
    last_day: day(until.getTime()),
  });
  for (const table of ['items', 'history']) {
    await db.run(`CREATE OR REPLACE TABLE shown_${table} AS SELECT * FROM ${table} WHERE item_id IN (${ids})`);
  }
  const reader = await db.read(`WITH
    items AS (FROM shown_items),
    history AS (FROM shown_history),
    runs AS (${readAnalysis('offer_prices')})
    SELECT *, min(price) OVER offer AS lowest, max(price) OVER offer AS highest
    FROM runs
    WINDOW offer AS (PARTITION BY item_id, currency)
    ORDER BY item_id, from_day`);
  return parseRows(reader, rows.priceRunRow);
}

/** Removes leading zeros, so that all forms of a GTIN are one product (API section 4, /products/{id}). */
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
