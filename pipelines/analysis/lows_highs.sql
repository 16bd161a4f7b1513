-- Today's price of a listing within its range: a row for each of the last 7, 30, 90 and 365 days and for all that is known
-- (days is null). lowest and highest of all prices that stood in these days, today's included; mean: weighted by how long each
-- stood; days_known: for how long the price is known; prices: how many different ones there were; rank: 1 where none was
-- lower; lower_pct: for what share of the known time the price was lower than today's.
-- Source: definitions of this project; time-weighted means as in the Consumer Price Index Manual (IMF and others, 2020).
-- Exact: price, lowest, highest and counts. mean, days_known and lower_pct are doubles; the mean is the exact sum of
-- price times microseconds, divided once.
-- Limits: the time before the first change that is known counts as if the price before it had stood since the listing was first
-- seen; is_whole is then false. Time in which the listing was gone counts nowhere, nor does a suspect price (price_spells) or a
-- listing whose price of today is a placeholder or off by a factor of 10, 100 or 1,000 (offers).
-- Optional variables: product (product_id) · item_id · site_id · currency · category (slug) · top (100
-- listings): those with the lowest price in percent of their mean of all that is known
WITH now_us AS (
  SELECT epoch_us(max(last_seen_at)) AS until_us FROM items
),
current_prices AS (
  SELECT item_id, product_id, title, site_id, currency, price
  FROM items
  WHERE is_listed AND price > 0
    AND (getvariable('product') IS NULL OR product_id = getvariable('product'))
    AND (getvariable('item_id') IS NULL OR item_id = getvariable('item_id')::BIGINT)
    AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (getvariable('category') IS NULL OR category_slug = getvariable('category'))
    AND item_id NOT IN (SELECT item_id FROM offers WHERE NOT is_counted AND list_has_any(findings, ['scale', 'placeholder']))
),
-- A price that stands has stood until the service looked last; a later change of it counts as long as it has stood.
spells AS MATERIALIZED (
  SELECT
    item_id,
    current_prices.currency,
    current_prices.price AS price_now,
    price_spells.price,
    epoch_us(from_at) AS from_us,
    coalesce(epoch_us(to_at), greatest(until_us, epoch_us(from_at))) AS to_us,
    to_at IS NULL AS stands,
    began
  FROM price_spells
  JOIN current_prices USING (item_id)
  CROSS JOIN now_us
  WHERE price_spells.currency = current_prices.currency AND NOT is_suspect
),
known AS (
  SELECT item_id, currency, sum((price * 10000)::HUGEINT * (to_us - from_us)) / (10000 * nullif(sum(to_us - from_us), 0)) AS mean
  FROM spells
  GROUP BY item_id, currency
),
chosen AS (
  SELECT item_id, currency
  FROM known
  JOIN current_prices USING (item_id, currency)
  ORDER BY current_prices.price::DOUBLE / mean NULLS LAST, item_id
  LIMIT coalesce(getvariable('top')::BIGINT, 100)
),
ranges AS (
  SELECT days, coalesce(until_us - days * 86400000000, 0) AS since_us
  FROM (SELECT unnest([7, 30, 90, 365, NULL]) AS days), now_us
),
figures AS (
  SELECT
    item_id,
    currency,
    days,
    any_value(price_now) AS price,
    min(price) AS lowest,
    max(price) AS highest,
    sum((price * 10000)::HUGEINT * (to_us - greatest(from_us, since_us))) / (10000 * nullif(sum(to_us - greatest(from_us, since_us)), 0)) AS mean,
    sum(to_us - greatest(from_us, since_us)) / 86400000000 AS days_known,
    count(DISTINCT price) AS prices,
    1 + count(DISTINCT price) FILTER (price < price_now) AS rank,
    100 * coalesce(sum(to_us - greatest(from_us, since_us)) FILTER (price < price_now), 0)
      / nullif(sum(to_us - greatest(from_us, since_us)), 0) AS lower_pct,
    bool_and(began IS NOT NULL) AS is_whole
  FROM spells
  SEMI JOIN chosen USING (item_id, currency)
  JOIN ranges ON to_us > since_us OR stands
  GROUP BY item_id, currency, days
)
SELECT
  item_id,
  title,
  product_id,
  current_prices.site_id,
  sites.name AS shop,
  figures.currency,
  figures.price,
  days,
  lowest,
  highest,
  mean,
  days_known,
  prices,
  rank,
  lower_pct,
  is_whole,
  sites.attribution
FROM figures
JOIN current_prices USING (item_id, currency)
LEFT JOIN sites ON sites.site_id = current_prices.site_id AND sites.is_current
ORDER BY item_id, days NULLS LAST
