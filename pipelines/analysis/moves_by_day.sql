-- part of: explore
-- How many prices of products fell and rose on each day, up to the day on which the service last saw any item. Omits
-- suspect prices (price_spells). Days are in each shop's time zone.
-- Variables:
-- · days (whole number; default 30): number of days
-- · currency (currency): only prices in this currency
-- · site_id (site): only this shop
WITH span AS (
  SELECT seen_day - coalesce(getvariable('days')::INTEGER, 30) + 1 AS first_day, seen_day AS last_day
  FROM (FROM 'data_clock.sql')
)
SELECT
  from_day AS day,
  count(*) FILTER (price < price_before) AS falls,
  count(*) FILTER (price > price_before) AS rises
FROM price_spells, span
WHERE from_day BETWEEN first_day AND last_day AND product_id IS NOT NULL AND NOT is_suspect AND price <> price_before
  AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
  AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
  AND (getvariable('category') IS NULL OR category_slug IN (FROM 'category_tree.sql'))
  AND (getvariable('brand') IS NULL AND getvariable('in_list') IS NULL
    OR product_id IN (FROM 'selected_products.sql'))
GROUP BY day
ORDER BY day
