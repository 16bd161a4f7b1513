-- Spread by category of the product, categories with the most compared products first.
-- $currency: only this currency, NULL for all · products with a price far from all others are left out
-- $top: so many categories
SELECT
  category_slug,
  min(category_name) AS category_name,
  min(category_path) AS category_path,
  count(*) AS spreads,
  quantile_cont(spread_pct, 0.25) AS p25,
  quantile_cont(spread_pct, 0.5) AS median,
  quantile_cont(spread_pct, 0.75) AS p75,
  max(spread_pct) AS widest
FROM price_spread
JOIN products USING (product_id)
WHERE ($currency IS NULL OR currency = $currency) AND outliers = 0 AND category_slug IS NOT NULL
GROUP BY category_slug
ORDER BY spreads DESC, category_slug
LIMIT $top
