-- name: price_spread_daily_consistent
-- severity: error
-- description: Every daily price spread's figures are in order, from min to max, and cover two or more shops. A run checks only its own rows.
-- found: [daily price spread has|daily price spreads have] figures out of order
-- next: The figures are derived; if history is right, the analysis is wrong.
-- within_run: run_id
SELECT day, product_id, currency, offers, shops, "min", p25, median, p75, "max", trusted_min, trusted_max
FROM price_spread_daily
WHERE (getvariable('run_id') IS NULL OR run_id = getvariable('run_id'))
  AND (
    NOT ("min" <= p25 AND p25 <= median AND median <= p75 AND p75 <= "max")
    OR NOT ("min" <= trusted_min AND trusted_min <= trusted_median AND trusted_median <= trusted_max AND trusted_max <= "max")
    OR shops < 2 OR offers < shops OR left_out > offers
  )
