-- name: price_spread_consistent
-- severity: error
-- description: Every price spread's figures are in order, from min to max, and cover two or more shops.
-- found: [price spread has|price spreads have] figures out of order
-- next: The figures are derived from items; if items is right, the analysis is wrong.
SELECT product_id, currency, offers, shops, "min", p25, median, p75, "max", mean, trusted_min, trusted_max
FROM price_spread
WHERE NOT ("min" <= p25 AND p25 <= median AND median <= p75 AND p75 <= "max" AND mean BETWEEN "min" AND "max")
  OR NOT ("min" <= trusted_min AND trusted_min <= trusted_median AND trusted_median <= trusted_max AND trusted_max <= "max")
  OR shops < 2 OR offers < shops OR left_out > offers
