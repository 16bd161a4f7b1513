-- name: spread_plausible
-- severity: warn
-- description: A product's trusted prices don't differ implausibly.
-- found: [product has|products have] prices that differ implausibly
-- next: Look at the offers with pricelake spread --product: different products may share a GTIN or part number.
-- parameter: pct DOUBLE default 900: maximum plausible spread, as a percentage of the lowest price
SELECT product_id, currency, offers, shops, trusted_min, trusted_max, trusted_spread_pct, grade
FROM price_spread
WHERE trusted_spread_pct > $pct
