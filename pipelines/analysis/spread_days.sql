-- part of: spread_by_day and spread_moves
-- Trusted price spreads (grades A and B) at the end of each closed day: one row for each currency, and one for all
-- currencies, whose currency is null. explore computes these rows once per version of the lake.
SELECT
  day,
  currency,
  count(*) AS spreads,
  quantile_cont(trusted_spread_pct, 0.25) AS p25,
  quantile_cont(trusted_spread_pct, 0.5) AS median,
  quantile_cont(trusted_spread_pct, 0.75) AS p75
FROM price_spread_daily
WHERE grade < 'C'
GROUP BY GROUPING SETS ((day, currency), (day))
