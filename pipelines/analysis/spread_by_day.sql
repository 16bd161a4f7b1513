-- Price spread of all compared products at the end of each closed day (UTC), without prices far from all others.
-- Optional variables: currency · days (90)
SELECT
  day,
  count(*) AS spreads,
  quantile_cont(inlier_spread_pct, 0.25) AS p25,
  quantile_cont(inlier_spread_pct, 0.5) AS median,
  quantile_cont(inlier_spread_pct, 0.75) AS p75
FROM price_spread_daily
WHERE (getvariable('currency') IS NULL OR currency = getvariable('currency'))
  AND day > (SELECT max(day) FROM price_spread_daily) - coalesce(getvariable('days')::INTEGER, 90)
GROUP BY day
ORDER BY day
