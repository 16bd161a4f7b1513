-- How often each shop was the cheapest: product-days (closed UTC days only) with the lowest trusted price at this shop (on
-- a tie, the shop with the lowest site id), and its share of all product-days. Only days of grades A and B.
-- Variables:
-- · currency (currency): only prices in this currency
-- · since (day; default the last 30 closed days): first day
WITH span AS (
  SELECT coalesce(getvariable('since')::DATE, max(day) - 29) AS since FROM price_spread_daily
),
won AS (
  SELECT trusted_cheapest_site_id AS site_id, count(*) AS product_days, count(DISTINCT product_id) AS products
  FROM price_spread_daily
  JOIN span ON day >= since
  WHERE grade < 'C'
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (
      getvariable('category') IS NULL
      OR product_id IN (SELECT product_id FROM products WHERE category_slug IN (FROM 'category_tree.sql'))
    )
  GROUP BY trusted_cheapest_site_id
)
SELECT
  site_id,
  sites.name AS shop,
  product_days,
  100 * product_days / sum(product_days) OVER () AS share_pct,
  won.products,
  'UTC' AS time_zone,
  sites.attribution
FROM won
LEFT JOIN sites USING (site_id)
WHERE coalesce(sites.is_current, true)
ORDER BY product_days DESC, site_id
