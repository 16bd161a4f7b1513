-- part of: explore
-- The prices of listings at two moments: one row for each listing of a product whose price differs, or that had a price
-- at only one of the moments. kind: rise or fall; new: a price at the later moment only; gone: at the earlier moment
-- only. If product is set, listings with an unchanged price also have a row (kind same). moved_at: when the later price
-- began; for a listing that is gone, when the earlier price ended. of_kind: number of rows of the kind, including rows
-- beyond top. Omits suspect prices (price_spells), and offers that the offers table judges wrong for reasons other than
-- being out of stock.
-- Variables:
-- · currency (currency): only prices in this currency
-- · site_id (site): only this shop
-- · category (category): only this category and its subcategories
-- · kind (rise | fall | new | gone | same): only this kind
-- · product (product): only this product
-- · top (whole number; default 100): number of rows of each kind, largest first, up to 999,999
WITH moment AS MATERIALIZED (FROM 'asked_moments.sql'),
standing AS (
  SELECT item_id, currency, price, from_at, to_at, is_first, is_last
  FROM (
    SELECT
      spells.*,
      from_at <= since AND coalesce(to_at > since, true) AS is_first,
      from_at <= until AND coalesce(to_at > until, true) AS is_last
    FROM price_spells AS spells, moment
    WHERE product_id IS NOT NULL AND NOT is_suspect
      AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
      AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
      AND (getvariable('product') IS NULL OR product_id = getvariable('product'))
      AND (getvariable('category') IS NULL OR category_slug IN (FROM 'category_tree.sql'))
      AND (getvariable('brand') IS NULL AND getvariable('in_list') IS NULL
        OR product_id IN (FROM 'selected_products.sql'))
  )
  WHERE is_first <> is_last OR (is_first AND getvariable('product') IS NOT NULL)
),
-- A listing has at most one price at each moment.
compared AS (
  SELECT
    item_id,
    min(currency) AS currency,
    max(currency) AS other_currency,
    max(CASE WHEN is_first THEN price END) AS price_before,
    max(CASE WHEN is_last THEN price END) AS price,
    coalesce(max(CASE WHEN is_last THEN from_at END), max(to_at)) AS moved_at,
    bool_or(to_at IS NULL) AS is_current
  FROM standing
  GROUP BY item_id
),
-- A condition or currency that excludes an offer today also excludes its past prices. Other findings are only about the
-- current price. A listing is excluded at both moments, so that it doesn't seem to appear or disappear.
wrong AS (
  SELECT item_id, list_has_any(findings, ['condition', 'currency']) AS is_always
  FROM (FROM 'all_offers.sql')
  WHERE NOT is_counted AND NOT list_has_all(['out_of_stock', 'duplicate'], findings)
    AND (getvariable('product') IS NULL OR product_id = getvariable('product'))
),
moved AS MATERIALIZED (
  SELECT
    item_id,
    currency,
    price_before,
    price,
    CASE
      WHEN price_before IS NULL THEN 'new'
      WHEN price IS NULL THEN 'gone'
      WHEN price > price_before THEN 'rise'
      WHEN price < price_before THEN 'fall'
      ELSE 'same'
    END AS kind,
    moved_at,
    100 * (price - price_before)::DOUBLE / price_before::DOUBLE AS change_pct
  FROM compared
  LEFT JOIN wrong USING (item_id)
  WHERE (is_always IS NULL OR NOT (is_always OR is_current)) AND currency = other_currency
    AND (getvariable('kind') IS NULL OR kind = getvariable('kind'))
),
counted AS (SELECT kind, count(*) AS of_kind FROM moved GROUP BY kind),
-- min() with a number keeps only that many rows of each kind in memory, and a window would sort all rows.
chosen AS MATERIALIZED (
  SELECT moved.*
  FROM moved
  JOIN (
    SELECT unnest(firsts).item_id AS item_id
    FROM (
      SELECT min(
        {'size': coalesce(-abs(change_pct), 1), 'moved_us': -epoch_us(moved_at), 'item_id': item_id},
        least(coalesce(getvariable('top')::BIGINT, 100), 999999)
      ) AS firsts
      FROM moved
      GROUP BY kind
    )
  ) AS firsts USING (item_id)
)
SELECT
  kind,
  item_id,
  product_id,
  title,
  category_slug,
  listed.site_id,
  coalesce(sites.name, listed.site_id::VARCHAR) AS shop,
  currency,
  price_before,
  price,
  price - price_before AS change,
  change_pct,
  moved_at,
  since,
  CASE WHEN isfinite(until) THEN until END AS until,
  of_kind,
  url,
  sites.attribution
FROM chosen
JOIN counted USING (kind)
CROSS JOIN moment
JOIN (
  SELECT item_id, product_id, site_id, title, category_slug, url
  FROM (FROM 'product_listings.sql')
  WHERE getvariable('product') IS NULL OR product_id = getvariable('product')
) AS listed USING (item_id)
LEFT JOIN sites ON sites.site_id = listed.site_id AND sites.is_current
ORDER BY
  list_position(['fall', 'rise', 'new', 'gone', 'same'], kind),
  abs(change_pct) DESC NULLS LAST,
  moved_at DESC,
  item_id
