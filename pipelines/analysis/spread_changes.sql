-- part of: explore
-- How the usual spread has changed from the day of a moment to the last closed day (UTC): the change in the number of
-- compared products, and in the median spread in percentage points. One row, or none if no earlier day is known.
-- Variables:
-- · currency (currency): only prices in this currency
WITH known AS MATERIALIZED (
  SELECT day, spreads, median
  FROM (FROM 'spread_days.sql')
  WHERE currency IS NOT DISTINCT FROM getvariable('currency')
),
ends AS (
  SELECT max(day) AS last_day, max(day) FILTER (day <= since::DATE) AS first_day
  FROM known, (FROM 'asked_moment.sql')
)
SELECT first_day, last_day, after.spreads - before.spreads AS spreads, after.median - before.median AS median
FROM ends
JOIN known AS before ON before.day = first_day
JOIN known AS after ON after.day = last_day
WHERE first_day < last_day
