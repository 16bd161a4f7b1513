-- part of: explore
-- How the prices of a product have changed since a moment: the lowest, median and highest price in percent, the spread in
-- percentage points, and the number of shops. One row, or no row if no shop had a price then. Only shops whose offers
-- count today are compared, at both times (shop_prices.sql).
-- Variables:
-- · product (product; required): the product
-- · currency (currency; required): only prices in this currency
-- · ago_days (whole number; default 30): the moment is so many days before the service last saw any item
WITH steps AS MATERIALIZED (
  SELECT price, from_at, until_at, max(until_at) OVER () AS now_at,
    make_timestamptz(seen_us) - to_days(coalesce(getvariable('ago_days')::INTEGER, 30)) AS then_at
  FROM (FROM 'shop_prices.sql')
  CROSS JOIN (SELECT seen_us FROM (FROM 'data_clock.sql'))
  WHERE is_counted
),
figures AS (
  SELECT
    any_value(then_at) AS then_at,
    min(price) FILTER (is_then)::DOUBLE AS lowest_then,
    min(price) FILTER (is_now)::DOUBLE AS lowest_now,
    median(price::DOUBLE) FILTER (is_then) AS median_then,
    median(price::DOUBLE) FILTER (is_now) AS median_now,
    max(price) FILTER (is_then)::DOUBLE AS highest_then,
    max(price) FILTER (is_now)::DOUBLE AS highest_now,
    count(*) FILTER (is_then) AS shops_then,
    count(*) FILTER (is_now) AS shops_now
  FROM (SELECT *, from_at <= then_at AND until_at > then_at AS is_then, until_at = now_at AS is_now FROM steps)
)
SELECT
  then_at,
  100 * (lowest_now - lowest_then) / lowest_then AS lowest,
  100 * (median_now - median_then) / median_then AS median,
  100 * (highest_now - highest_then) / highest_then AS highest,
  100 * (highest_now / lowest_now - highest_then / lowest_then) AS spread,
  shops_now - shops_then AS shops
FROM figures
WHERE shops_then > 0 AND shops_now > 0
