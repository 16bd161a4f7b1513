-- Price spreads in figures, one row; the quantiles leave out prices far from all others.
-- Variables, none of which need be set: currency · min_shops: what counts as sold in many shops (4, or as many as the
-- most-sold product has: from four offers on, a price far from all others can be told)
WITH selected AS (
  SELECT * FROM price_spread WHERE getvariable('currency') IS NULL OR currency = getvariable('currency')
),
bounds AS (
  SELECT coalesce(getvariable('min_shops')::BIGINT, greatest(2, least(4, max(shops)))) AS min_shops FROM selected
)
SELECT
  min_shops,
  count(spread_pct) AS spreads,
  count(*) FILTER (outliers > 0) AS with_outliers,
  count(*) FILTER (outliers = 0 AND shops >= min_shops) AS in_many_shops,
  quantile_cont(inlier_spread_pct, 0.5) AS median_pct,
  quantile_cont(inlier_spread_pct, 0.9) AS p90_pct
FROM bounds
LEFT JOIN selected ON true
GROUP BY min_shops
