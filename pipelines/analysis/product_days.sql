-- part of: spread --product
-- Day by day, what the offers of a product cost: lowest, median and highest price and how many there were, also while
-- only one shop sold it. From offer_prices (offer_prices.sql) between first_day and last_day.
-- Variables:
-- · product (product; required): the product
-- · currency (currency): only prices in this currency
WITH days AS (
  SELECT from_day + unnest(range(to_day - from_day))::INTEGER AS day, site_id, price
  FROM offer_prices
  WHERE product_id = getvariable('product') AND currency = getvariable('currency')
)
SELECT
  day,
  count(*) AS offers,
  count(DISTINCT site_id) AS shops,
  min(price) AS "min",
  median(price) AS median,
  max(price) AS "max"
FROM days
GROUP BY day
ORDER BY day
