-- part of: explore
-- Where today's best price of a product stands: one row each for the last 30 and 90 days, and one for the whole known past
-- (days is null). The best price is the lowest of all shops that have an offer that counts today, at each time
-- (shop_prices.sql). lowest, mean (weighted by time, rounded to four decimals) and highest are of the best price;
-- lowest_shop and lowest_at: where and when it was last the lowest; above_low and above_low_pct: today's best price over
-- it; days_known: days with a best price.
-- Variables:
-- · product (product; required): the product
-- · currency (currency; required): only prices in this currency
WITH steps AS MATERIALIZED (
  SELECT site_id, shop, price, epoch_us(from_at) AS from_us, epoch_us(until_at) AS to_us
  FROM (FROM 'shop_prices.sql')
  WHERE is_counted
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
  days_known
FROM figures
JOIN lows ON lows.days IS NOT DISTINCT FROM figures.days
CROSS JOIN present
ORDER BY figures.days NULLS LAST
