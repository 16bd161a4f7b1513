-- part of: price_spread_daily and spread --product
-- Which prices of a past day count, judged by prices alone: the lowest price of each shop, unless it is below half or
-- above twice the median of the shops. Reads standing: key, item_id, site_id and price of the offers at the end of one
-- day, or of several days with the same offers.
SELECT
  key,
  site_id,
  price,
  2 * price::DOUBLE / twice_median AS price_ratio,
  CASE
    WHEN shops >= median_shops AND (price_ratio > far OR price_ratio * far < 1) THEN ['outlier']
    WHEN item_id <> first_id THEN ['duplicate']
    ELSE []
  END AS findings,
  findings = [] AS is_counted
FROM standing
JOIN (SELECT key, site_id, arg_min(item_id, (price, item_id)) AS first_id FROM standing GROUP BY key, site_id) AS firsts
  USING (key, site_id)
JOIN (
  SELECT key, len(prices) AS shops, (prices[(shops + 1) // 2] + prices[shops // 2 + 1])::DOUBLE AS twice_median
  FROM (
    SELECT key, list_sort(list(lowest::DECIMAL(20, 4))) AS prices
    FROM (SELECT key, site_id, min(price) AS lowest FROM standing GROUP BY key, site_id)
    GROUP BY key
  )
) AS medians USING (key)
CROSS JOIN (FROM 'spread_limits.sql')
