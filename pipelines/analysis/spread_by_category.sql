-- Spread by category of the product, categories with the most compared products first.
-- Prices far from all others are left out. Variables, none of which need be set: currency · top (30)
SELECT
  category_slug,
  min(category_name) AS category_name,
  min(category_path) AS category_path,
  count(*) AS spreads,
  quantile_cont(inlier_spread_pct, 0.25) AS p25,
  quantile_cont(inlier_spread_pct, 0.5) AS median,
  quantile_cont(inlier_spread_pct, 0.75) AS p75,
  max(inlier_spread_pct) AS widest
FROM price_spread
JOIN products USING (product_id)
WHERE (getvariable('currency') IS NULL OR currency = getvariable('currency')) AND category_slug IS NOT NULL
GROUP BY category_slug
ORDER BY spreads DESC, category_slug
LIMIT coalesce(getvariable('top')::BIGINT, 30)
