-- Price spread by product category, the category with the most compared products first. Uses trusted prices of grades A
-- and B.
-- Variables:
-- · currency (currency): only prices in this currency
-- · top (whole number; default 30): number of rows
WITH trusted AS (
  SELECT *, trusted_spread_pct AS pct
  FROM price_spread
  WHERE grade < 'C' AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
)
SELECT
  category_slug,
  min(category_name) AS category_name,
  min(category_path) AS category_path,
  count(*) AS spreads,
  quantile_cont(pct, 0.25) AS p25,
  quantile_cont(pct, 0.5) AS median,
  quantile_cont(pct, 0.75) AS p75,
  max(pct) AS widest
FROM trusted
JOIN products USING (product_id)
WHERE category_slug IS NOT NULL
GROUP BY category_slug
ORDER BY spreads DESC, category_slug
LIMIT coalesce(getvariable('top')::BIGINT, 30)
