-- part of: explore
-- The shops that sell products of your price list at prices that count, the shop with the most lines first. cheapest:
-- lines for which neither another shop nor you have a lower price. Reads watched (watch_changes.sql) and watch_priced.
WITH asked AS (
  SELECT product_id, currency, site_id, min(price) AS price
  FROM watch_priced
  WHERE is_counted
  GROUP BY product_id, currency, site_id
)
SELECT
  asked.site_id,
  any_value(coalesce(sites.name, asked.site_id::VARCHAR)) AS shop,
  count(*) AS lines,
  count(*) FILTER (asked.price = least(watched.price, watched.cheapest)) AS cheapest
FROM watched
JOIN asked USING (product_id, currency)
LEFT JOIN sites ON sites.site_id = asked.site_id AND sites.is_current
GROUP BY asked.site_id
ORDER BY lines DESC, asked.site_id
