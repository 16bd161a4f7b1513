import type { Hono } from 'hono';
import { itemsAt, type Moment } from '../world/past-sql.js';
import type { SqlValues } from '../world/world-database.js';
import { ApiError, answerJson } from './answers.js';
import { chooseDatasets, chooseMoment, type SandboxEnv, type Service } from './caller.js';
import { addCategory, addWords, FilterBuilder, type ItemFilter } from './item-filter.js';

interface OfferChoice {
  /** The relation with the items at the moment that the response shows. */
  items: string;
  /** The currency of the offers to count; null for all currencies. */
  currency: string | null;
  /** True if removed offers count, which the `products.offers` interpretation determines. */
  removed: boolean;
}

function offersWhere({ currency, removed }: OfferChoice): string {
  const listed = removed ? '' : ' AND removed_at IS NULL';
  const inCurrency = currency === null ? '' : ' AND currency = $currency';
  return `mask & $mask::INTEGER <> 0 AND product_key IS NOT NULL${listed}${inCurrency}`;
}

const PRODUCT_ORDERS = {
  '-offers': 'count(*) DESC',
  '-shops': 'count(DISTINCT site_id) DESC',
  price: 'min(price) NULLS LAST',
  '-price': 'min(price) DESC NULLS LAST',
};

/**
 * Builds a query for the row number of one offer per matching product. Reading the products' keys would take four times
 * as long.
 */
function findProducts(filter: ItemFilter, choice: OfferChoice, minShops: number, order: string): string {
  const inShops = minShops > 1 ? [`count(DISTINCT site_id) >= ${minShops}`] : [];
  const having = [...inShops, ...(filter.where === '' ? [] : [`bool_or(${filter.where})`])].join(' AND ');
  return `SELECT min(n) FROM ${choice.items} WHERE ${offersWhere(choice)}
    GROUP BY product_key ${having === '' ? '' : `HAVING ${having}`}
    ORDER BY ${order}, product_key`;
}

/** Builds a query that returns the product keys of the offers in $numbers, in the order of $numbers. */
function readKeys({ items }: OfferChoice): string {
  return `SELECT product_key AS key FROM ${items} JOIN (
    SELECT unnest(from_json($numbers, '["UINTEGER"]')) AS n, unnest(range(len(from_json($numbers, '["UINTEGER"]')))) AS place
  ) USING (n) ORDER BY place`;
}

/** Builds a query that renders the products in $keys as JSON (API §2). Texts come from the oldest offer. */
function renderProducts(choice: OfferChoice): string {
  return `
WITH wanted AS (
  SELECT unnest(from_json($keys, '["VARCHAR"]')) AS product_key, unnest(range(len(from_json($keys, '["VARCHAR"]')))) AS place
), offers AS (
  SELECT * FROM ${choice.items} SEMI JOIN wanted USING (product_key) WHERE ${offersWhere(choice)}
), ranges AS (
  SELECT product_key, string_agg(concat('{"currency":', json_text(currency), ',"min":', json_money(low), ',"max":', json_money(high),
    ',"offers":', priced, '}'), ',' ORDER BY currency) AS ranges
  FROM (SELECT product_key, currency, min(price) AS low, max(price) AS high, count(*) AS priced
    FROM offers WHERE price IS NOT NULL AND currency IS NOT NULL GROUP BY ALL)
  GROUP BY product_key
), heads AS (
  SELECT product_key, arg_min(title, n) AS title, arg_min(brand, n) AS brand, arg_min(mpn, n) AS mpn, arg_min(gtin, n) AS gtin,
    coalesce(arg_min(category_json, n) FILTER (category_json <> 'null'), 'null') AS category,
    count(*) AS offers, count(DISTINCT site_id) AS shops
  FROM offers GROUP BY product_key
)
SELECT concat('{"id":', json_text(product_key), ',"title":', json_text(title), ',"brand":', json_text(brand), ',"mpn":', json_text(mpn),
  ',"gtin":', json_text(gtin), ',"category":', category, ',"offers":', offers, ',"shops":', shops,
  ',"prices":[', coalesce(ranges, ''), ']}') AS json
FROM wanted JOIN heads USING (product_key) LEFT JOIN ranges USING (product_key) ORDER BY place`;
}

const SORTS = Object.keys(PRODUCT_ORDERS) as (keyof typeof PRODUCT_ORDERS)[];

/** Adds `/products` and `/products/{id}` (API §4). */
export function addProductRoutes(app: Hono<SandboxEnv>, service: Service): void {
  const { world, readings } = service;
  const chooseOffers = (moment: Moment, currency: string | null): OfferChoice => ({
    items: itemsAt(moment),
    currency,
    removed: readings.get('products.offers') === 'all',
  });

  app.get('/products', async (c) => {
    const { parameters } = c.var;
    const mask = chooseDatasets(c.var, readings.get('unknownDataset'));
    const filter = new FilterBuilder();
    addWords(filter, parameters.text('q'));
    addCategory(filter, world, parameters.text('category'));
    filter.addGiven('brand = $brand', 'brand', parameters.text('brand'));
    filter.addGiven("ltrim(gtin, '0') = $gtin", 'gtin', parameters.gtin('gtin'));
    const currency = parameters.currency('currency');
    const minShops = parameters.int32('minShops', { min: -(2 ** 31), byDefault: 1 });
    const order = PRODUCT_ORDERS[parameters.choice('sort', SORTS) ?? '-offers'];
    const page = parameters.int32('page', { min: 0, byDefault: 0 });
    const size = parameters.int32('size', { min: 1, max: 200, byDefault: 50 });
    const { where, values } = filter.build();
    const choice = chooseOffers(chooseMoment(service, 'products'), currency);
    const sql = findProducts({ where, values }, choice, minShops, order);
    const found = await world.find(sql, { ...values, mask, currency });
    const numbers = JSON.stringify([...found.subarray(page * size, (page + 1) * size)]);
    const keys = await world.database.use((session) => session.rows(readKeys(choice), { numbers }));
    const content = await render(
      service,
      keys.map(({ key }) => key as string),
      choice,
      { mask, currency },
    );
    const totals = `"totalElements":${found.length},"totalPages":${Math.ceil(found.length / size)}`;
    return answerJson(Buffer.from(`{"content":[${content}],"page":${page},"size":${size},${totals}}`));
  });

  app.get('/products/:id', async (c) => {
    const { caller, parameters } = c.var;
    const mask = chooseDatasets(c.var, '404');
    const currency = parameters.currency('currency');
    const id = c.req.param('id');
    const key = /^\d+$/.test(id) ? id.replace(/^0+/, '') : id;
    const moment = chooseMoment(service, 'products');
    const choice = chooseOffers(moment, currency);
    const sql = `SELECT n FROM ${choice.items} WHERE product_key = $key AND ${offersWhere(choice)} ORDER BY price NULLS LAST, n`;
    const offers = await world.find(sql, { key, mask, currency });
    const [product] = await render(service, [key], choice, { mask, currency });
    if (product === undefined) throw new ApiError(404, `No offers of a product ${id} among the items you can see.`);
    const head = `{"product":${product},"offers":[`;
    return answerJson(await world.readRows(caller.view, moment, offers, (rows) => rows.wrap(head, offers, ']}')));
  });
}

async function render(service: Service, keys: string[], choice: OfferChoice, values: SqlValues): Promise<string[]> {
  const sql = renderProducts(choice);
  const bound = { ...values, keys: JSON.stringify(keys) };
  const rows = await service.world.database.use((session) => session.rows(sql, bound));
  return rows.map(({ json }) => json as string);
}
