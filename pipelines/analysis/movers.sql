-- Which prices have moved since a given time: one row per listing of a product whose price or listing state has
-- changed. kind: rise or fall; new: listed for the first time since; back: listed again; removed: no longer listed;
-- gone: missing from a complete copy. change and change_pct: the size of the move. rank_before and rank_after: the
-- shop's price rank among the shops that sell the product in that currency; 1 if no shop is cheaper; null if the shop
-- didn't sell it, or its prices don't count. shops_before and shops_after: the number of these shops. moved_at: when
-- the current price or listing began, or the listing ended. of_kind: number of rows of the kind, including rows beyond
-- top. Prices judged wrong have no row: current prices with a finding other than duplicate in the offers table, and
-- suspect prices in price_spells. If is_counted is false, another listing of the shop counts instead.
-- Exact: prices, change, ranks and times. change_pct is a double.
-- Limits: only the two moments are compared, so a listing that started and ended in between has no row; the same
-- applies to one that returned to its old price. Listings without a product, without a price at either moment, or with
-- a changed currency are left out. Only current offers have conditions and usual currencies, so removed listings are
-- judged by their own prices alone.
-- Variables:
-- · currency (currency): only prices in this currency
-- · site_id (site): only this shop
-- · kind (rise | fall | new | back | removed | gone): only moves of this kind
-- · product (product): only this product
-- · top (whole number; default 100): number of rows of each kind, largest first
WITH moment AS MATERIALIZED (FROM 'asked_moment.sql'),
lasting AS MATERIALIZED (
  SELECT item_id, product_id, site_id, currency, price, from_at, to_at, began, is_suspect, is_confirmed
  FROM price_spells, moment
  WHERE product_id IS NOT NULL AND (to_at IS NULL OR to_at > since)
),
-- Spells that started or ended since the moment. For an older spell that continues, only the listing's own row can show
-- a move.
spells AS MATERIALIZED (
  SELECT lasting.* EXCLUDE (is_confirmed), since
  FROM lasting, moment
  WHERE (from_at > since OR to_at IS NOT NULL OR NOT is_confirmed)
    AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
    AND (getvariable('product') IS NULL OR product_id = getvariable('product'))
    AND (getvariable('brand') IS NULL AND getvariable('in_list') IS NULL
      OR product_id IN (FROM 'selected_products.sql'))
),
-- The ids are unnested from a list, so DuckDB estimates few rows and builds the join's hash table from them.
touched AS MATERIALIZED (
  SELECT unnest(ids) AS item_id FROM (SELECT list(DISTINCT item_id) AS ids FROM spells)
),
judged AS MATERIALIZED (
  SELECT item_id, product_id, site_id, currency, price, is_counted, findings, price > 0 AND (is_counted OR findings = ['duplicate']) AS is_right
  FROM (FROM 'all_offers.sql')
  SEMI JOIN touched USING (item_id)
),
listings AS MATERIALIZED (
  SELECT item_id, price_changed_at, first_seen_at, removed_at, gone_at, is_listed, category_slug
  FROM (FROM 'product_listings.sql')
  SEMI JOIN touched USING (item_id)
),
-- A condition or currency that excludes an offer today also excludes its past prices. Other findings are only about the
-- current price.
then_listed AS MATERIALIZED (
  SELECT
    spells.* EXCLUDE (since, began, is_suspect),
    NOT is_suspect AND coalesce(
      is_right OR to_at IS NOT NULL AND NOT list_has_any(findings, ['condition', 'currency']),
      true
    ) AS is_right
  FROM spells
  LEFT JOIN (SELECT item_id, findings, is_right FROM judged) AS judged USING (item_id)
  WHERE from_at <= since
),
-- The first and the last spell of each listing that started since the moment. If the listing already existed without a
-- price, its first price doesn't make it a new listing.
later AS (
  SELECT
    item_id,
    arg_min(coalesce(began, 'NEW'), from_at) AS first_began,
    max(from_at) AS price_from_at,
    max(from_at) FILTER (began IS DISTINCT FROM 'CHANGED') AS listed_from_at,
    any_value(since) AS since
  FROM spells
  WHERE from_at > since
  GROUP BY item_id
),
moved AS (
  SELECT
    CASE WHEN judged.price > then_listed.price THEN 'rise' ELSE 'fall' END AS kind,
    item_id,
    judged.product_id,
    judged.site_id,
    judged.currency,
    then_listed.price AS price_before,
    judged.price,
    coalesce(price_from_at, price_changed_at) AS moved_at,
    judged.is_counted
  FROM judged
  JOIN then_listed USING (item_id, currency)
  JOIN (SELECT item_id, price_changed_at FROM listings) AS listings USING (item_id)
  LEFT JOIN later USING (item_id)
  WHERE judged.is_right AND then_listed.is_right AND judged.price <> then_listed.price
  UNION ALL
  SELECT
    CASE WHEN first_began = 'RELISTED' THEN 'back' ELSE 'new' END,
    item_id,
    judged.product_id,
    judged.site_id,
    judged.currency,
    NULL,
    judged.price,
    coalesce(listed_from_at, first_seen_at),
    is_counted
  FROM judged
  JOIN later USING (item_id)
  JOIN (SELECT item_id, first_seen_at FROM listings) AS listings USING (item_id)
  ANTI JOIN then_listed USING (item_id)
  WHERE is_right AND (first_began <> 'CHANGED' OR first_seen_at > since)
  UNION ALL
  SELECT
    CASE WHEN removed_at IS NULL THEN 'gone' ELSE 'removed' END,
    item_id,
    then_listed.product_id,
    then_listed.site_id,
    then_listed.currency,
    then_listed.price,
    NULL,
    coalesce(removed_at, gone_at),
    NULL
  FROM then_listed
  JOIN (SELECT item_id, removed_at, gone_at FROM listings WHERE NOT is_listed) AS listings USING (item_id)
  WHERE is_right
),
chosen AS MATERIALIZED (
  SELECT moved.*, category_slug, price - price_before AS change,
    100 * (price - price_before)::DOUBLE / price_before::DOUBLE AS change_pct,
    count(*) OVER (PARTITION BY kind) AS of_kind
  FROM moved
  JOIN (SELECT item_id, category_slug FROM listings) AS listings USING (item_id)
  WHERE (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
    AND (getvariable('category') IS NULL OR category_slug IN (FROM 'category_tree.sql'))
    AND (getvariable('kind') IS NULL OR kind = getvariable('kind'))
    AND (getvariable('product') IS NULL OR product_id = getvariable('product'))
  QUALIFY row_number() OVER (PARTITION BY kind ORDER BY abs(change_pct) DESC NULLS LAST, moved_at DESC, item_id)
    <= coalesce(getvariable('top')::BIGINT, 100)
),
chosen_products AS MATERIALIZED (
  SELECT unnest(ids) AS product_id FROM (SELECT list(DISTINCT product_id) AS ids FROM chosen)
),
-- The current and the earlier prices of the chosen products.
sold AS MATERIALIZED (
  SELECT item_id, product_id, currency, site_id, price, is_counted, findings, price > 0 AND (is_counted OR findings = ['duplicate']) AS is_right
  FROM (FROM 'all_offers.sql')
  SEMI JOIN chosen_products USING (product_id)
),
sold_then AS (
  SELECT
    lasting.product_id,
    lasting.currency,
    lasting.site_id,
    lasting.price,
    NOT is_suspect AND coalesce(
      is_right OR to_at IS NOT NULL AND NOT list_has_any(findings, ['condition', 'currency']),
      true
    ) AS is_right
  FROM lasting
  SEMI JOIN chosen_products USING (product_id)
  SEMI JOIN chosen USING (product_id, currency)
  CROSS JOIN moment
  LEFT JOIN (SELECT item_id, findings, is_right FROM sold) AS sold USING (item_id)
  WHERE from_at <= since
),
-- The lowest price of each shop that counts; equal prices share a rank.
places_before AS (
  SELECT
    product_id,
    currency,
    site_id,
    rank() OVER (PARTITION BY product_id, currency ORDER BY min(price)) AS place,
    count(*) OVER (PARTITION BY product_id, currency) AS shops
  FROM sold_then
  WHERE is_right
  GROUP BY product_id, currency, site_id
),
places_after AS (
  SELECT
    product_id,
    currency,
    site_id,
    rank() OVER (PARTITION BY product_id, currency ORDER BY min(price)) AS place,
    count(*) OVER (PARTITION BY product_id, currency) AS shops
  FROM sold
  SEMI JOIN chosen USING (product_id, currency)
  WHERE is_counted AND price > 0
  GROUP BY product_id, currency, site_id
)
SELECT
  chosen.kind,
  chosen.item_id,
  chosen.product_id,
  listed.title,
  chosen.category_slug,
  chosen.site_id,
  coalesce(sites.name, chosen.site_id::VARCHAR) AS shop,
  chosen.currency,
  chosen.price_before,
  chosen.price,
  chosen.change,
  chosen.change_pct,
  before.place AS rank_before,
  coalesce(market_before.shops, 0) AS shops_before,
  after.place AS rank_after,
  coalesce(market_after.shops, 0) AS shops_after,
  chosen.is_counted,
  chosen.moved_at,
  moment.since,
  chosen.of_kind,
  listed.url,
  sites.attribution
FROM chosen
CROSS JOIN moment
JOIN (
  SELECT item_id, title, url FROM (FROM 'product_listings.sql') SEMI JOIN chosen_products USING (product_id)
) AS listed USING (item_id)
LEFT JOIN places_before AS before USING (product_id, currency, site_id)
LEFT JOIN places_after AS after USING (product_id, currency, site_id)
LEFT JOIN (SELECT DISTINCT product_id, currency, shops FROM places_before) AS market_before USING (product_id, currency)
LEFT JOIN (SELECT DISTINCT product_id, currency, shops FROM places_after) AS market_after USING (product_id, currency)
LEFT JOIN sites ON sites.site_id = chosen.site_id AND sites.is_current
ORDER BY
  list_position(['fall', 'rise', 'new', 'back', 'removed', 'gone'], kind),
  abs(change_pct) DESC NULLS LAST,
  moved_at DESC,
  item_id
