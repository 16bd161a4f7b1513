-- Today's price of a listing within its range: one row each for the last 7, 30, 90 and 365 days, and one for the whole
-- known past (days is null). lowest and highest: of all prices in these days, including today's; mean: weighted by how
-- long each price lasted; days_known: days with a known price; prices: number of different prices; rank: 1 if no price
-- was lower; lower_pct: share of the known time in which the price was lower than today's.
-- Source: definitions of this project; time-weighted means as in the Consumer Price Index Manual (IMF and others,
-- 2020).
-- Exact: price, lowest, highest and counts. mean, days_known and lower_pct are doubles; the mean is the exact sum of
-- price times microseconds, divided once.
-- Limits: the time before the first known change counts as if the price had been the same since the listing was first
-- seen; is_whole is then false. Time when the listing was gone doesn't count. Suspect prices (price_spells) are left
-- out, and so are listings whose current price is suspect or has a finding (offers.findings) other than duplicate, such as
-- one that is out of stock.
-- Variables:
-- · product (product): only this product
-- · item_id (whole number): only this listing
-- · site_id (site): only this shop
-- · currency (currency): only prices in this currency
-- · top (whole number; default 100): number of listings, those with the lowest price in percent of their mean first
WITH now_us AS (
  SELECT seen_us AS until_us FROM (FROM 'data_clock.sql')
),
current_prices AS (
  SELECT item_id, product_id, title, site_id, currency, price
  FROM items
  WHERE is_listed AND price > 0
    AND (getvariable('product') IS NULL OR product_id = getvariable('product'))
    AND (getvariable('item_id') IS NULL OR item_id = getvariable('item_id')::BIGINT)
    AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (getvariable('category') IS NULL OR category_slug IN (FROM 'category_tree.sql'))
    AND item_id NOT IN (SELECT item_id FROM price_spells WHERE to_at IS NULL AND is_suspect)
    AND item_id NOT IN (SELECT item_id FROM (FROM 'all_offers.sql') WHERE NOT is_counted AND findings <> ['duplicate'])
),
-- A current price lasts until the service last saw the listing. A later change counts for as long as it lasted.
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
