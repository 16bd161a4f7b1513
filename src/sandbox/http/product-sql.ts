import type { ItemFilter } from './item-filter.js';

/** What makes up a product. */
export interface OfferChoice {
  /** Relation of the items, at the moment that the answer shows. */
  items: string;
  /** Only offers in this one; null is any. */
  currency: string | null;
  /** Reading `products.offers`. */
  removed: boolean;
}

/** Offers that make up a product: visible, matched and, by default, listed. */
export function offersWhere({ currency, removed }: OfferChoice): string {
  const listed = removed ? '' : ' AND removed_at IS NULL';
  const inCurrency = currency === null ? '' : ' AND currency = $currency';
  return `mask & $mask::INTEGER <> 0 AND product_key IS NOT NULL${listed}${inCurrency}`;
}

export const PRODUCT_ORDERS = {
  '-offers': 'count(*) DESC',
  '-shops': 'count(DISTINCT site_id) DESC',
  price: 'min(price) NULLS LAST',
  '-price': 'min(price) DESC NULLS LAST',
};

/**
 * One offer of each product that has an offer passing the filter; counts are of all its offers. Numbers, because reading
 * half a million keys as text takes four times as long.
 */
export function findProducts(filter: ItemFilter, choice: OfferChoice, minShops: number, order: string): string {
  const inShops = minShops > 1 ? [`count(DISTINCT site_id) >= ${minShops}`] : [];
  const having = [...inShops, ...(filter.where === '' ? [] : [`bool_or(${filter.where})`])].join(' AND ');
  return `SELECT min(n) FROM ${choice.items} WHERE ${offersWhere(choice)}
    GROUP BY product_key ${having === '' ? '' : `HAVING ${having}`}
    ORDER BY ${order}, product_key`;
}

/** The keys of the products that offers $numbers are of, in this order. */
export function readKeys({ items }: OfferChoice): string {
  return `SELECT product_key AS key FROM ${items} JOIN (
    SELECT unnest(from_json($numbers, '["UINTEGER"]')) AS n, unnest(range(len(from_json($numbers, '["UINTEGER"]')))) AS place
  ) USING (n) ORDER BY place`;
}

/** Products (section 2) as JSON text, one row each, in the order of $keys. Texts come from the oldest offer that has one. */
export function renderProducts(choice: OfferChoice): string {
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
