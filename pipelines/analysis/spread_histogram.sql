-- How many products have which spread, in steps of 5 percent; all from 100 percent on are one step (up_to is null).
-- Prices far from all others are left out. Variables, none of which need be set: currency
SELECT
  least(floor(inlier_spread_pct / 5), 20) * 5 AS from_pct,
  CASE WHEN inlier_spread_pct < 100 THEN floor(inlier_spread_pct / 5) * 5 + 5 END AS up_to_pct,
  count(*) AS spreads
FROM price_spread
WHERE getvariable('currency') IS NULL OR currency = getvariable('currency')
GROUP BY ALL
ORDER BY from_pct
