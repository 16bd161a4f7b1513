-- How many products have which spread, in steps of 5 percent; all from 100 percent on are one step (up_to is null).
-- $currency: only this currency, NULL for all · products with a price far from all others are left out
SELECT
  least(floor(spread_pct / 5), 20) * 5 AS from_pct,
  CASE WHEN spread_pct < 100 THEN floor(spread_pct / 5) * 5 + 5 END AS up_to_pct,
  count(*) AS spreads
FROM price_spread
WHERE ($currency IS NULL OR currency = $currency) AND outliers = 0
GROUP BY ALL
ORDER BY from_pct
