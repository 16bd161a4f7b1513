import type { Statements } from '../sql/connection.js';
import { isSameValue, pathOf } from './asserted-values.js';
import { compute, type ExplainedValue, explainItem } from './explain-item.js';
import { type Row, readItemFacts, toText, type WhySource } from './item-facts.js';

/** A listing on which a computed row is based. */
export interface FromOffer {
  itemId: string;
  siteId: string | null;
  price: string | null;
  currency: string | null;
  isCounted: boolean;
  /** The listing's value on which the computed value is based. It is set only for the first ten listings. */
  behind: ExplainedValue | undefined;
}

export type DerivedTable = 'offers' | 'products' | 'price_spread';

const QUERIES: Record<DerivedTable, string> = {
  offers: 'pipelines/analysis/judged_offers.sql',
  products: 'pipelines/models/products.sql, from the offers of the product',
  price_spread: 'pipelines/analysis/price_spread.sql, from the offers of the product',
};

/** The columns that are parsed from the column `attributes`, which contains text from shops. */
const OF_ATTRIBUTES = [
  ...['quantity', 'unit', 'unit_price', 'condition', 'availability', 'shipping_cost', 'delivered_price'],
  ...['regular_price', 'unit_min', 'unit_max', 'unit_spread_pct'],
];

/** Returns the column of items on which a computed column is based. */
function findBehind(table: DerivedTable, column: string | undefined): string {
  if (column === 'gtin14') return 'gtin';
  if (column !== undefined && pathOf(column) !== undefined) return column;
  if (column !== undefined && OF_ATTRIBUTES.includes(column)) return 'attributes';
  return table === 'products' ? 'title' : 'price';
}

const MOST_OFFERS = 100;
/** The maximum number of listings for which downloaded files are searched. */
const MOST_EXPLAINED = 10;

/** Explains computed values. Lists the listings on which they are based, and the origins of the listings' values. */
export async function explainDerived(
  source: WhySource,
  { table, column, wanted }: { table: DerivedTable; column: string | undefined; wanted: readonly string[] },
  rows: readonly Row[],
): Promise<{ rows: ExplainedValue[][]; from: FromOffer[]; damaged: string[] }> {
  const explained = rows.map((row) => wanted.map((name) => compute(name, row, QUERIES[table])));
  const offers = await listOffers(source.db, table, rows[0] ?? {});
  const behind = findBehind(table, column);
  const values = column === undefined ? [] : rows.map((row) => toText(row[column]));
  const first = await chooseFirst(source.db, offers, behind, values);
  const facts = await readItemFacts(source, first);
  const known = new Map(facts.map((one, at) => [first[at], explainItem(behind, one)]));
  const from = offers.map((row) => ({
    itemId: String(row.item_id),
    siteId: toText(row.site_id),
    price: toText(row.price),
    currency: toText(row.currency),
    isCounted: row.is_counted === true,
    behind: known.get(row.item_id as bigint),
  }));
  return { rows: explained, from, damaged: facts[0]?.landed.damaged ?? [] };
}

function listOffers(db: Statements, table: DerivedTable, row: Row): Promise<Row[]> {
  const name = table === 'offers' ? 'item_id' : 'product_id';
  return db.rows(
    `SELECT item_id, site_id, price, currency, coalesce(is_counted, true) AS is_counted
     FROM items LEFT JOIN (SELECT item_id, is_counted FROM offers) AS judged USING (item_id)
     WHERE is_listed AND product_id IS NOT NULL AND price IS NOT NULL AND currency IS NOT NULL AND ${name} = $1
     ORDER BY currency, price, item_id LIMIT ${MOST_OFFERS}`,
    [row[name] ?? null],
  );
}

/**
 * Returns the ids of up to ten listings. Listings with the same value as the computed row come first, such as the
 * cheapest listing if the value is a minimum.
 */
async function chooseFirst(
  db: Statements,
  offers: readonly Row[],
  behind: string,
  values: readonly (string | null)[],
): Promise<bigint[]> {
  const ids = offers.map(({ item_id }) => item_id as bigint);
  const said = await db.rows(
    `SELECT item_id, ${behind} AS said FROM items WHERE item_id IN (SELECT unnest([${ids.join(', ')}]::BIGINT[]))`,
  );
  const texts = new Map(said.map(({ item_id, said: value }) => [item_id as bigint, toText(value)]));
  const isSame = (id: bigint) => values.some((value) => value !== null && isSameValue(value, texts.get(id) ?? null));
  return [...ids.filter(isSame), ...ids.filter((id) => !isSame(id))].slice(0, MOST_EXPLAINED);
}
