-- name: spread_plausible
-- severity: warn
-- description: Prices of one product, without outliers, do not differ implausibly much.
-- found: [product has|products have] prices that differ implausibly
-- next: Look at the offers with pricelake spread --product: different products may share a GTIN or part number.
-- parameter: pct DOUBLE default 900: widest plausible spread in percent of the lowest price
SELECT product_id, currency, offers, shops, inlier_min, inlier_max, inlier_spread_pct
FROM price_spread
WHERE inlier_spread_pct > $pct
