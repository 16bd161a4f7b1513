-- name: spread_plausible
-- severity: warn
-- description: Prices of one product, without outliers, do not differ implausibly.
-- found: [product has|products have] prices that differ implausibly
-- next: Look at the offers with pricelake spread --product; other products under one GTIN or part number look like this.
-- parameter: pct DOUBLE default 900: widest plausible spread in percent of the lowest price
SELECT product_id, currency, offers, shops, inlier_min, inlier_max, inlier_spread_pct
FROM price_spread
WHERE inlier_spread_pct > $pct
