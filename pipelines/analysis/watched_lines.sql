-- part of: explore
-- Every line of your price list against the market, those with a sure alarm first, then the unsure ones. From watched (watch_changes.sql).
-- Variables:
-- · product (product): only this product
SELECT *
FROM watched
WHERE getvariable('product') IS NULL OR product_id = getvariable('product')
ORDER BY coalesce(sure_alarms, 0) > 0 DESC, coalesce(alarms, 0) > 0 DESC, is_matched DESC, gap_pct DESC NULLS LAST, line
