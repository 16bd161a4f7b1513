-- part of: spread --product
-- A product's prices by day: the lowest, median and highest price that counts (judged_days.sql), including days on
-- which only one shop sold it. Reads offer_prices (offer_prices.sql) between first_day and last_day.
-- Variables:
-- · product (product; required): the product
-- · currency (currency): only prices in this currency
WITH standing AS MATERIALIZED (
  SELECT from_day + unnest(range(to_day - from_day))::INTEGER AS key, item_id, site_id, price
  FROM offer_prices
  WHERE product_id = getvariable('product') AND currency = getvariable('currency')
)
SELECT key AS day, min(price) AS "min", median(price) AS median, max(price) AS "max"
FROM (FROM 'judged_days.sql')
WHERE is_counted
GROUP BY key
ORDER BY key
