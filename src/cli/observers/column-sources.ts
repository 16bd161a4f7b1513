import { ITEM_VALUES } from '../../tables/item-names.js';
import type { TableName } from '../../tables/table.js';

/** `items.price` is a column of the lake, `api:Item.price` a field of the service. */
type Source = `${TableName}.${string}` | `api:${'Item' | 'Change' | 'Product' | 'Dataset'}.${string}`;
type Sources = Record<string, readonly Source[]>;

const item = (...columns: string[]): readonly Source[] => columns.map((column): Source => `items.${column}`);

/** Columns of items that hold a field of Item unchanged (API section 2). */
const ITEM_FIELDS: Sources = Object.fromEntries(
  Object.entries(ITEM_VALUES)
    .filter(([, column]) => column !== 'site_attribution')
    .map(([field, column]) => [column === 'id' ? 'item_id' : column, [`api:Item.${field}`] as const]),
);

const SAME = (table: string, ...fields: string[]): Sources =>
  Object.fromEntries(
    fields.map((field) => [
      field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      [`api:${table}.${field}` as Source],
    ]),
  );

const PRICE = item('price', 'product_id', 'currency', 'is_listed');
const LISTED = item('product_id', 'is_listed');

/**
 * The sources of the columns of a table. Columns that pricelake makes by itself (run_id, read_at) and tables of runs have
 * none.
 */
export const COLUMN_SOURCES: Partial<Record<TableName, Sources>> = {
  items: {
    ...ITEM_FIELDS,
    gtin14: ['api:Item.gtin'],
    product_id: ['api:Item.gtin', 'api:Item.brand', 'api:Item.mpn'],
    is_listed: ['api:Item.removedAt'],
    change_id: ['api:Change.id'],
  },
  history: {
    change_id: ['api:Change.id'],
    ...SAME('Change', 'itemId', 'kind', 'observedAt', 'price', 'previousPrice', 'currency', 'changes', 'title', 'url'),
    observed_date: ['api:Change.observedAt'],
    site_id: ['api:Change.site.id'],
  },
  sites: {
    site_id: ['api:Item.site.id'],
    name: ['api:Item.site.name'],
    host: ['api:Item.site.host'],
    attribution: ['api:Item.site.attribution'],
  },
  products: {
    product_id: item('product_id'),
    gtin14: item('gtin14'),
    title: item('title', 'first_seen_at', 'item_id'),
    brand: item('brand', 'first_seen_at', 'item_id'),
    mpn: item('mpn', 'first_seen_at', 'item_id'),
    category_name: item('category_name', 'first_seen_at', 'item_id'),
    category_path: item('category_path', 'first_seen_at', 'item_id'),
    category_slug: item('category_slug', 'first_seen_at', 'item_id'),
    offers: LISTED,
    shops: [...LISTED, ...item('site_id')],
  },
  product_prices: {
    product_id: item('product_id'),
    currency: item('currency'),
    min: PRICE,
    max: PRICE,
    offers: PRICE,
  },
  price_spread: {
    product_id: item('product_id'),
    currency: item('currency'),
    offers: PRICE,
    shops: [...PRICE, ...item('site_id')],
    ...Object.fromEntries(
      ['min', 'p25', 'median', 'p75', 'max', 'mean', 'stddev', 'spread', 'spread_pct', 'outliers'].map((name) => [
        name,
        PRICE,
      ]),
    ),
    ...Object.fromEntries(
      ['inlier_min', 'inlier_median', 'inlier_max', 'inlier_mean', 'inlier_spread_pct'].map((name) => [name, PRICE]),
    ),
    cheapest_site_id: [...PRICE, ...item('site_id')],
    dearest_site_id: [...PRICE, ...item('site_id')],
    attribution: ['sites.attribution', ...item('site_id')],
  },
};
