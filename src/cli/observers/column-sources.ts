import { ITEM_VALUES } from '../../tables/item-names.js';
import type { TableName } from '../../tables/table.js';

/**
 * The source of a column. It is another column of the lake, such as `items.price`, or a field of the API, such as
 * `api:Item.price`.
 */
type Source = `${TableName}.${string}` | `api:${'Item' | 'Change' | 'Product' | 'Dataset'}.${string}`;
type Sources = Record<string, readonly Source[]>;

const item = (...columns: string[]): readonly Source[] => columns.map((column): Source => `items.${column}`);

const each = (columns: string[], find: (column: string) => readonly Source[]): Sources =>
  Object.fromEntries(columns.map((column) => [column, find(column)]));

/** The columns of the items table that contain a field of the API's Item unchanged (API §2). */
const ITEM_FIELDS: Sources = Object.fromEntries(
  Object.entries(ITEM_VALUES)
    .filter(([, column]) => column !== 'site_attribution')
    .map(([field, column]) => [column === 'id' ? 'item_id' : column, [`api:Item.${field}`] as const]),
);

/** The columns of the history table that contain a field of the API's Change unchanged. */
const CHANGE_FIELDS: Sources = Object.fromEntries(
  ['itemId', 'kind', 'observedAt', 'price', 'previousPrice', 'currency', 'changes', 'title', 'url'].map((field) => [
    field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    [`api:Change.${field}`] as const,
  ]),
);

const PRICE = item('price', 'product_id', 'currency', 'is_listed');
const LISTED = item('product_id', 'is_listed');
const STATISTICS = ['min', 'p25', 'median', 'p75', 'max', 'mean', 'stddev', 'spread', 'spread_pct'];

/**
 * The sources of each table's columns. Columns that pricelake generates, such as run_id and read_at, have no sources,
 * and neither have tables about runs.
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
    ...CHANGE_FIELDS,
    change_id: ['api:Change.id'],
    observed_date: ['api:Change.observedAt'],
    site_id: ['api:Change.site.id'],
  },
  sites: {
    site_id: ['api:Item.site.id'],
    ...each(['name', 'host', 'attribution'], (column) => [`api:Item.site.${column}`]),
  },
  products: {
    ...each(['product_id', 'gtin14'], item),
    ...each(['title', 'brand', 'mpn', 'category_name', 'category_path', 'category_slug'], (column) =>
      item(column, 'first_seen_at', 'item_id'),
    ),
    offers: LISTED,
    shops: [...LISTED, ...item('site_id')],
  },
  product_prices: {
    ...each(['product_id', 'currency'], item),
    ...each(['min', 'max', 'offers'], () => PRICE),
  },
  matches: {
    product_id: [...item('product_id'), 'user_matches.product_id'],
    match_id: [...item('product_id', 'gtin14', 'brand', 'mpn'), 'user_matches.other_id', 'user_matches.is_match'],
    item_id: item('item_id', 'gtin14', 'brand', 'mpn'),
    shops: item('site_id', 'gtin14', 'brand', 'mpn'),
  },
  price_spread: {
    ...each(['product_id', 'currency'], item),
    ...each(['offers', ...STATISTICS], () => PRICE),
    ...each(['shops', 'cheapest_site_id', 'dearest_site_id'], () => [...PRICE, ...item('site_id')]),
    attribution: ['sites.attribution', ...item('site_id')],
  },
};
