-- part of: explore
-- Every line of your price list compared with the market, lines with a sure alarm first, then lines with an unsure one.
-- Variables:
-- · product (product): only this product
-- · place (cheapest | middle | dearest | alone | undercut | rivals_out): only lines in this place (watched_places.sql)
SELECT * EXCLUDE (places)
FROM (FROM 'watched_places.sql')
WHERE (getvariable('product') IS NULL OR product_id = getvariable('product'))
  AND (getvariable('place') IS NULL OR list_contains(places, getvariable('place')::VARCHAR))
ORDER BY coalesce(sure_alarms, 0) > 0 DESC, coalesce(alarms, 0) > 0 DESC, is_matched DESC, gap_pct DESC NULLS LAST, line
