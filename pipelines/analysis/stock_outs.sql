-- part of: explore
-- When listings of one product were out of stock: one row per listing and period. to_at is null if the listing is still
-- out of stock. from_known is false if it was already out of stock when the known history begins. Uses the attributes
-- that the pipeline file maps, as in availability.
-- Variables:
-- · product (product; required): the product
WITH stock_since AS NOT MATERIALIZED (SELECT NULL::BIGINT AS after_us),
runs AS MATERIALIZED (
  FROM (FROM 'listing_stock.sql')
  WHERE getvariable('product') IS NULL OR product_id = getvariable('product')::VARCHAR
),
marked AS (
  SELECT
    *,
    lag(to_us) OVER in_order IS DISTINCT FROM from_us OR lag(state) OVER in_order <> state AS is_other
  FROM runs
  WINDOW in_order AS (PARTITION BY item_id ORDER BY from_us)
),
numbered AS (
  SELECT *, count(*) FILTER (is_other) OVER (PARTITION BY item_id ORDER BY from_us) AS stretch FROM marked
),
outs AS (
  SELECT item_id, site_id, min(from_us) AS from_us, max(to_us) AS to_us, max(known_us) AS known_us, max(now_us) AS now_us
  FROM numbered
  WHERE state = 'out of stock'
  GROUP BY item_id, site_id, stretch
)
SELECT
  item_id,
  outs.site_id,
  coalesce(name, outs.site_id::VARCHAR) AS shop,
  make_timestamptz(from_us) AS from_at,
  CASE WHEN to_us < now_us THEN make_timestamptz(to_us) END AS to_at,
  from_us > known_us AS from_known,
  attribution
FROM outs
LEFT JOIN (SELECT site_id, name, attribution FROM sites WHERE is_current) AS shops USING (site_id)
ORDER BY item_id, from_at
