-- Price spread of all compared products at the end of each closed day (UTC), by trusted prices (grades A and B).
-- Variables:
-- · currency (currency): only prices in this currency
-- · days (whole number from 1; default 90): how many days
WITH known AS MATERIALIZED (
  SELECT *
  FROM (FROM 'spread_days.sql')
  WHERE currency IS NOT DISTINCT FROM getvariable('currency')
)
SELECT day, spreads, p25, median, p75, 'UTC' AS time_zone
FROM known
WHERE day > (SELECT max(day) FROM price_spread_daily) - coalesce(getvariable('days')::INTEGER, 90)
ORDER BY day
