-- Daily price spreads of the products with the widest spreads today, or of one product, at the end of UTC days, from
-- the price_spread_daily table. A past day is graded by its prices alone.
-- Variables:
-- · product (product): only this product, whatever its spread
-- · since (day; default the last 30 closed days): first day
WITH widest AS (FROM 'chosen_spreads.sql'),
chosen AS (
  SELECT product_id, currency, place FROM widest WHERE getvariable('product') IS NULL
  UNION ALL
  SELECT DISTINCT product_id, currency, 0
  FROM price_spread_daily
  WHERE product_id = getvariable('product')
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
),
-- The ids are unnested from a list, so that DuckDB expects few rows and reads only these products.
chosen_products AS MATERIALIZED (
  SELECT unnest(ids) AS product_id FROM (SELECT list(DISTINCT product_id) AS ids FROM chosen)
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
  cheapest.name AS trusted_cheapest_shop,
  dearest.name AS trusted_dearest_shop,
  'UTC' AS time_zone
FROM (FROM price_spread_daily SEMI JOIN chosen_products USING (product_id)) AS daily
JOIN chosen USING (product_id, currency)
JOIN span ON daily.day >= span.since
LEFT JOIN products USING (product_id)
LEFT JOIN sites AS cheapest ON cheapest.site_id = daily.trusted_cheapest_site_id AND cheapest.is_current
LEFT JOIN sites AS dearest ON dearest.site_id = daily.trusted_dearest_site_id AND dearest.is_current
ORDER BY chosen.place, daily.product_id, daily.currency, daily.day
