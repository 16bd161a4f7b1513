import type { JsonSchema } from './schemas.js';

/** A parameter object of OpenAPI. */
export interface Parameter {
  name: string;
  in: 'query' | 'path';
  required?: true;
  description: string;
  schema: JsonSchema;
}

const INT64 = { type: 'integer', format: 'int64' } as const;
const INT32 = { type: 'integer', format: 'int32' } as const;
const TEXT = { type: 'string' } as const;
const CURRENCY = { type: 'string', pattern: '^[A-Za-z]{3}$' } as const;
const GTIN = { type: 'string', pattern: '^[0-9]{1,14}$' } as const;

function query(name: string, schema: JsonSchema, description: string): Parameter {
  return { name, in: 'query', description, schema };
}

export function pathId(schema: 'int64' | 'string', description: string): Parameter {
  return { name: 'id', in: 'path', required: true, description, schema: schema === 'int64' ? INT64 : TEXT };
}

export const dataset = query('dataset', INT64, 'Id from `/datasets`. Without it all visible datasets are used');
export const gtin = query(
  'gtin',
  GTIN,
  'EAN, UPC or ISBN-13: the same product in every shop. Leading zeros may be left out',
);
export const brand = query('brand', TEXT, 'Brand as the shops name it');

const q = query(
  'q',
  TEXT,
  'Words that must all occur, in any order, in title, brand, codes and other values. Parts of words count',
);
const category = query('category', TEXT, 'Category slug, subcategories included');
const currency = query('currency', CURRENCY, 'ISO 4217 code');
export const offerCurrency = query('currency', CURRENCY, 'ISO 4217 code: only offers in this currency');

/** The filters that `/items` and `/export` share. */
export const ITEM_FILTERS: Parameter[] = [
  dataset,
  query('site', INT64, 'Only items of this website (id from `/facets`)'),
  category,
  q,
  query('minPrice', { type: 'number' }, "Lowest price, in the item's currency"),
  query('maxPrice', { type: 'number' }, "Highest price, in the item's currency"),
  currency,
  query(
    'status',
    { type: 'string', enum: ['active', 'removed', 'all'], default: 'active' },
    '`active`: listed now. `removed`: no longer listed',
  ),
  query('changedSince', { type: 'string', format: 'date-time' }, 'Only items with a change after this time'),
  gtin,
];

export const PRODUCT_FILTERS: Parameter[] = [dataset, q, category, brand, gtin, currency];

export const minShops = query(
  'minShops',
  { ...INT32, default: 1 },
  'Sold by at least this many websites. Use 2 for products to compare',
);

/** A choice of values. */
export function choice(name: string, values: string[], byDefault: string | null, about: string): Parameter {
  return query(name, { type: 'string', enum: values, ...(byDefault === null ? {} : { default: byDefault }) }, about);
}

/** `page` and `size`; bounds in section 8. */
export function paging(maximum: number): Parameter[] {
  return [
    query('page', { ...INT32, minimum: 0, default: 0 }, 'Page, from 0'),
    query('size', { ...INT32, minimum: 1, maximum, default: 50 }, 'Results per page'),
  ];
}

export function limit(maximum: number, byDefault: number): Parameter {
  return query('limit', { ...INT32, minimum: 1, maximum, default: byDefault }, 'Changes per page');
}

export const after = query(
  'after',
  { ...INT64, default: 0 },
  "The cursor. 0 means from the beginning of the plan's history",
);
export const before = query('before', INT64, 'The last `id` of the previous page');
