-- The price of every offer over time, as ranges of days: at the end of each UTC day from from_day to the day before
-- to_day, it was listed at this price. (FROM '….sql') is replaced by the query in that file; known_prices.sql lists the
-- known prices and their order. An item without changes has had its price since it was first seen. Product and website
-- are the current ones, for all days.
-- Variables:
-- · first_day (day; required): first day
-- · last_day (day; required): last day
WITH past_offers AS (FROM 'past_offers.sql'),
listings AS (
  SELECT
    *,
    coalesce(DATE '1970-01-01' + (epoch_us(first_seen_at) // 86400000000)::INTEGER, getvariable('first_day')) AS seen_day
  FROM past_offers
  WHERE product_id IS NOT NULL
),
known AS (FROM 'known_prices.sql'),
-- At the start of the range, the state after the last change before it.
left_before AS (
  SELECT
    item_id,
    arg_max(kind, moment) AS kind,
    arg_max(listing, moment) AS listing,
    arg_max_null(price, moment) AS price,
    arg_max_null(currency, moment) AS currency,
    true AS is_seen
  FROM (
    SELECT *, epoch_us(known_at)::HUGEINT * 18446744073709551616 + nth AS moment
    FROM known
    WHERE day < getvariable('first_day')
  )
  GROUP BY item_id
),
steps AS (
  SELECT
    item_id,
    CASE WHEN is_seen THEN getvariable('first_day') ELSE greatest(seen_day, getvariable('first_day')) END AS day,
    NULL AS known_at,
    NULL AS nth,
    left_before.kind,
    left_before.listing,
    left_before.price,
    NULL AS price_before,
    NULL AS last_price,
    left_before.currency,
    NULL AS currency_before
  FROM listings
  LEFT JOIN left_before USING (item_id)
  UNION ALL
  FROM known
  WHERE day >= getvariable('first_day')
),
price_runs AS (FROM 'price_runs.sql'),
runs AS (
  SELECT
    *,
    day AS from_day,
    least(coalesce(next_day, DATE '9999-12-31'), getvariable('last_day') + 1)::DATE AS to_day
  FROM price_runs
)
SELECT product_id, currency, item_id, site_id, price, from_day, to_day
FROM runs
WHERE from_day < to_day AND price > 0 AND currency IS NOT NULL
