-- Price spreads in figures, one row; products with a price far from all others are left out where it is said.
-- $currency: only this currency, NULL for all · $min_shops: what counts as sold in many shops; NULL for four, or as
-- many as the most-sold product has: from four offers on, a price far from all others can be told
WITH selected AS (
  SELECT * FROM price_spread WHERE $currency IS NULL OR currency = $currency
),
bounds AS (
  SELECT coalesce($min_shops::BIGINT, greatest(2, least(4, max(shops)))) AS min_shops FROM selected
)
SELECT
  min_shops,
  count(spread_pct) AS spreads,
  count(*) FILTER (outliers > 0) AS with_outliers,
  count(*) FILTER (outliers = 0 AND shops >= min_shops) AS in_many_shops,
  quantile_cont(spread_pct, 0.5) FILTER (outliers = 0) AS median_pct,
  quantile_cont(spread_pct, 0.9) FILTER (outliers = 0) AS p90_pct
FROM bounds
LEFT JOIN selected ON true
GROUP BY min_shops
