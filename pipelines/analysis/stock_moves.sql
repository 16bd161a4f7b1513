-- Which listings ran out of stock or came back between a given time and now, or another time: one row per listing of a
-- product, the latest first. kind: out: it was in stock or on order at the first time, and is out of stock at the
-- second; back: it was out of stock, and is in stock at the second. moved_at: when its state at the second time began.
-- in_stock_shops: other shops that have the product in stock then. of_kind: number of rows of the kind, including rows
-- beyond top.
-- Source: a definition of this project. Stock states are determined as in availability.
-- Exact: prices, times and counts.
-- Limits: only the two moments are compared. A listing that isn't listed at one of them, or whose availability isn't
-- known then, has no row; see movers for listings that started or ended. price is the current price.
-- Variables:
-- · currency (currency): only listings in this currency
-- · site_id (site): only this shop
-- · kind (out | back): only moves of this kind
-- · top (whole number; default 100): number of rows of each kind
WITH moment AS MATERIALIZED (FROM 'asked_moments.sql'),
stock_since AS (SELECT epoch_us(since) AS after_us FROM moment),
stock_until AS (SELECT CASE WHEN isinf(until) THEN 9223372036854775807 ELSE epoch_us(until) + 1 END AS until_us FROM moment),
-- Stock periods that started or ended since the moment. They are few, because unchanged periods are left out.
stretches AS MATERIALIZED (
  SELECT item_id, product_id, site_id, state, from_us, least(to_us, end_us) AS to_us, end_us, since_us
  FROM (
    SELECT stock.*, epoch_us(since) AS since_us, least(now_us, until_us) AS end_us
    FROM (FROM 'listing_stock.sql') AS stock, moment, stock_until
  )
  WHERE to_us > since_us AND from_us < end_us AND NOT (from_us <= since_us AND to_us >= end_us)
    AND (getvariable('product') IS NULL OR product_id = getvariable('product')::VARCHAR)
    AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
    AND (getvariable('brand') IS NULL AND getvariable('in_list') IS NULL
      OR product_id IN (FROM 'selected_products.sql'))
),
ends AS (
  SELECT
    item_id,
    any_value(product_id) AS product_id,
    any_value(site_id) AS site_id,
    any_value(state) FILTER (from_us <= since_us) AS state_before,
    any_value(state) FILTER (to_us = end_us) AS state,
    max(to_us) FILTER (state <> 'out of stock') AS other_than_out_us,
    max(to_us) FILTER (state <> 'in stock') AS other_than_in_us
  FROM stretches
  GROUP BY item_id
),
moved AS MATERIALIZED (
  SELECT item_id, product_id, site_id, 'out' AS kind, other_than_out_us AS ended_us
  FROM ends
  WHERE state = 'out of stock' AND state_before IN ('in stock', 'on order')
  UNION ALL
  SELECT item_id, product_id, site_id, 'back', other_than_in_us
  FROM ends
  WHERE state = 'in stock' AND state_before = 'out of stock'
),
begun AS (
  SELECT item_id, min(from_us) AS moved_us
  FROM stretches
  JOIN moved USING (item_id)
  WHERE from_us >= ended_us
  GROUP BY item_id
),
-- The ids are unnested from a list, so DuckDB estimates few rows and builds the join's hash table from them.
moved_products AS MATERIALIZED (
  SELECT unnest(ids) AS product_id FROM (SELECT list(DISTINCT product_id) AS ids FROM moved)
),
listings AS MATERIALIZED (
  SELECT item_id, currency, category_slug FROM (FROM 'product_listings.sql') SEMI JOIN moved_products USING (product_id)
),
chosen AS MATERIALIZED (
  SELECT moved.* EXCLUDE (ended_us), moved_us, currency, category_slug, count(*) OVER (PARTITION BY kind) AS of_kind
  FROM moved
  JOIN begun USING (item_id)
  JOIN listings USING (item_id)
  WHERE (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (getvariable('kind') IS NULL OR kind = getvariable('kind'))
    AND (getvariable('category') IS NULL OR category_slug IN (FROM 'category_tree.sql'))
  QUALIFY row_number() OVER (PARTITION BY kind ORDER BY moved_us DESC, item_id) <= coalesce(getvariable('top')::BIGINT, 100)
),
chosen_products AS MATERIALIZED (
  SELECT unnest(ids) AS product_id FROM (SELECT list(DISTINCT product_id) AS ids FROM chosen)
),
having_it AS (
  SELECT product_id, list(DISTINCT site_id) AS sites
  FROM (
    SELECT product_id, site_id FROM (FROM 'all_offers.sql') WHERE availability = 'in stock' AND getvariable('until') IS NULL
    UNION ALL
    SELECT product_id, site_id
    FROM (FROM 'listing_stock.sql'), stock_until
    WHERE state = 'in stock' AND from_us < until_us AND to_us >= least(now_us, until_us) AND getvariable('until') IS NOT NULL
  )
  SEMI JOIN chosen_products USING (product_id)
  GROUP BY product_id
)
SELECT
  kind,
  item_id,
  product_id,
  title,
  chosen.category_slug,
  chosen.site_id,
  coalesce(sites.name, chosen.site_id::VARCHAR) AS shop,
  price,
  chosen.currency,
  coalesce(len(list_filter(having_it.sites, lambda site: site <> chosen.site_id)), 0) AS in_stock_shops,
  make_timestamptz(moved_us) AS moved_at,
  since,
  of_kind,
  url,
  sites.attribution
FROM chosen
CROSS JOIN moment
JOIN (
  SELECT item_id, title, price, url FROM (FROM 'product_listings.sql') SEMI JOIN chosen_products USING (product_id)
) AS listed USING (item_id)
LEFT JOIN having_it USING (product_id)
LEFT JOIN sites ON sites.site_id = chosen.site_id AND sites.is_current
ORDER BY list_position(['out', 'back'], kind), moved_us DESC, item_id
