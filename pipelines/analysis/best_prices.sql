-- part of: explore
-- How today's best price of a product compares with its past: one row each for the last 30 and 90 days, and one for the
-- whole known past (days is null). The best price at any time is the lowest price among shops that have an offer that
-- counts today (shop_prices.sql). lowest, mean (weighted by time, rounded to four decimals) and highest refer to the
-- best price; lowest_shop and lowest_at: where and when it was last the lowest; above_low and above_low_pct: how far
-- today's best price is above it; days_known: number of days with a best price. then_at: the moment that many days
-- before the service last saw any item; lowest_change, median_change and highest_change: how the shops' lowest, median
-- and highest price have changed since then, in percent; spread_change: in percentage points; shops_change: in number
-- of shops. These are null if no shop had a price then.
-- Variables:
-- · product (product; required): the product
-- · currency (currency; required): only prices in this currency
WITH steps AS MATERIALIZED (
  SELECT site_id, shop, price, epoch_us(from_at) AS from_us, epoch_us(until_at) AS to_us
  FROM (FROM 'shop_prices.sql')
  WHERE is_counted
),
-- The prices of all shops, now and at the given moment.
ends AS (
  SELECT days, then_us, price, from_us <= then_us AND to_us > then_us AS is_then, to_us = now_us AS is_now
  FROM (SELECT price, from_us, to_us, max(to_us) OVER () AS now_us FROM steps)
  CROSS JOIN (
    SELECT days, epoch_us(make_timestamptz(seen_us) - to_days(days)) AS then_us
    FROM (SELECT unnest([30, 90]) AS days), (FROM 'data_clock.sql')
  )
),
market AS (
  SELECT
    days,
    any_value(then_us) AS then_us,
    min(price) FILTER (is_then)::DOUBLE AS lowest_then,
    min(price) FILTER (is_now)::DOUBLE AS lowest_now,
    median(price::DOUBLE) FILTER (is_then) AS median_then,
    median(price::DOUBLE) FILTER (is_now) AS median_now,
    max(price) FILTER (is_then)::DOUBLE AS highest_then,
    max(price) FILTER (is_now)::DOUBLE AS highest_now,
    count(*) FILTER (is_then) AS shops_then,
    count(*) FILTER (is_now) AS shops_now
  FROM ends
  GROUP BY days
  HAVING shops_then > 0 AND shops_now > 0
),
edges AS (SELECT DISTINCT unnest([from_us, to_us]) AS at_us FROM steps),
pieces AS (SELECT at_us AS from_us, lead(at_us) OVER (ORDER BY at_us) AS to_us FROM edges),
best AS MATERIALIZED (
  SELECT pieces.from_us, pieces.to_us, min(price) AS price, arg_min(shop, (price, site_id)) AS shop,
    arg_min(site_id, (price, site_id)) AS site_id
  FROM pieces
  JOIN steps ON steps.from_us <= pieces.from_us AND steps.to_us >= pieces.to_us
  GROUP BY pieces.from_us, pieces.to_us
),
present AS (
  SELECT max(to_us) AS end_us, arg_max(price, to_us) AS price_now, arg_max(shop, to_us) AS shop_now FROM best
),
parts AS (
  SELECT days, best.shop, best.site_id, best.price, greatest(from_us, since_us) AS from_us, to_us
  FROM best
  JOIN (
    SELECT days, coalesce(end_us - days * 86400000000, -9223372036854775807) AS since_us
    FROM (SELECT unnest([30, 90, NULL]) AS days), present
  ) ON to_us > since_us
),
figures AS (
  SELECT
    days,
    min(price) AS lowest,
    max(price) AS highest,
    (sum((price * 10000)::HUGEINT * (to_us - from_us)) / (10000 * sum(to_us - from_us)))::DECIMAL(18, 4) AS mean,
    sum(to_us - from_us) / 86400000000 AS days_known
  FROM parts
  GROUP BY days
),
lows AS (
  SELECT parts.days, arg_max(shop, to_us) AS lowest_shop, arg_max(site_id, to_us) AS lowest_site_id, max(to_us) AS low_us
  FROM parts
  JOIN figures ON figures.days IS NOT DISTINCT FROM parts.days AND figures.lowest = parts.price
  GROUP BY parts.days
)
SELECT
  figures.days,
  price_now AS price,
  shop_now AS shop,
  lowest,
  lowest_shop,
  lowest_site_id,
  CASE WHEN low_us < end_us THEN make_timestamptz(low_us) END AS lowest_until,
  mean,
  highest,
  price_now - lowest AS above_low,
  100 * (price_now - lowest)::DOUBLE / lowest::DOUBLE AS above_low_pct,
  days_known,
  make_timestamptz(then_us) AS then_at,
  100 * (lowest_now - lowest_then) / lowest_then AS lowest_change,
  100 * (median_now - median_then) / median_then AS median_change,
  100 * (highest_now - highest_then) / highest_then AS highest_change,
  100 * (highest_now / lowest_now - highest_then / lowest_then) AS spread_change,
  shops_now - shops_then AS shops_change
FROM figures
LEFT JOIN market USING (days)
JOIN lows ON lows.days IS NOT DISTINCT FROM figures.days
CROSS JOIN present
ORDER BY figures.days NULLS LAST
