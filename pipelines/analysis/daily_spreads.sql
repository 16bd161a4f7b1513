-- Day by day, the price spreads of the products with the widest spreads today, or of one product.
-- Variables, none of which need be set: as of widest_spreads.sql, and since (DATE; 30 days up to the last closed one) ·
-- product (product_id): this one, whatever its spread
WITH widest AS (
  SELECT product_id, currency, spread_pct
  FROM price_spread AS spread
  LEFT JOIN products USING (product_id)
  WHERE getvariable('product') IS NULL
    AND (getvariable('currency') IS NULL OR spread.currency = getvariable('currency'))
    AND (getvariable('category_slugs') IS NULL OR list_contains(getvariable('category_slugs')::VARCHAR[], products.category_slug))
    AND (getvariable('brand') IS NULL OR lower(products.brand) = lower(getvariable('brand')::VARCHAR))
    AND spread.shops >= coalesce(getvariable('min_shops')::BIGINT, 2)
    AND (coalesce(getvariable('with_outliers')::BOOLEAN, true) OR spread.outliers = 0)
  ORDER BY spread.spread_pct DESC, spread.product_id, spread.currency
  LIMIT coalesce(getvariable('top')::BIGINT, 20)
),
chosen AS (
  FROM widest
  UNION ALL
  SELECT DISTINCT product_id, currency, 0
  FROM price_spread_daily
  WHERE product_id = getvariable('product')
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
),
span AS (
  SELECT coalesce(getvariable('since')::DATE, max(day) - 29) AS since FROM price_spread_daily
)
SELECT
  daily.day,
  daily.product_id,
  products.title,
  products.brand,
  daily.* EXCLUDE (day, product_id, run_id),
  cheapest.name AS cheapest_shop,
  dearest.name AS dearest_shop
FROM price_spread_daily AS daily
JOIN chosen USING (product_id, currency)
JOIN span ON daily.day >= span.since
LEFT JOIN products USING (product_id)
LEFT JOIN sites AS cheapest ON cheapest.site_id = daily.cheapest_site_id AND cheapest.is_current
LEFT JOIN sites AS dearest ON dearest.site_id = daily.dearest_site_id AND dearest.is_current
ORDER BY chosen.spread_pct DESC, daily.product_id, daily.currency, daily.day
