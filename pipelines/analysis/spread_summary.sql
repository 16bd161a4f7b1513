-- Summary of all price spreads, in one row. The quantiles use trusted spreads (grades A and B).
-- Variables:
-- · currency (currency): only prices in this currency
-- · min_shops (whole number; default 4, or the most shops that any product has if fewer): minimum number of shops for a
--   product to count as sold by many
WITH selected AS (
  SELECT *
  FROM price_spread
  WHERE (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (getvariable('category') IS NULL
      OR product_id IN (SELECT product_id FROM products WHERE category_slug IN (FROM 'category_tree.sql')))
    AND (getvariable('brand') IS NULL AND getvariable('in_list') IS NULL
      OR product_id IN (FROM 'selected_products.sql'))
),
bounds AS (
  SELECT coalesce(getvariable('min_shops')::BIGINT, greatest(2, least(4, max(shops)))) AS min_shops FROM selected
)
SELECT
  min_shops,
  count(spread_pct) AS spreads,
  count(*) FILTER (grade = 'A') AS grade_a,
  count(*) FILTER (grade = 'B') AS grade_b,
  count(*) FILTER (grade = 'C') AS grade_c,
  coalesce(sum(left_out), 0)::BIGINT AS left_out,
  count(*) FILTER (grade < 'C' AND shops >= min_shops) AS in_many_shops,
  quantile_cont(trusted_spread_pct, 0.5) FILTER (grade < 'C') AS median_pct,
  quantile_cont(trusted_spread_pct, 0.9) FILTER (grade < 'C') AS p90_pct
FROM bounds
LEFT JOIN selected ON true
GROUP BY min_shops
