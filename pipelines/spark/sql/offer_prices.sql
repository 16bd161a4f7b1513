-- Made by generate.py from pipelines/analysis/offer_prices.sql: change that one. Source f39fe3c8b956ffce.
-- step: offer_prices__past_offers
SELECT
  item_id,
  product_id,
  site_id,
  COALESCE(price, -1) AS price,
  COALESCE(previous_price, -1) AS price_before,
  currency,
  price_changed_at,
  COALESCE(removed_at, gone_at) AS removed_at,
  first_seen_at
FROM items;
-- step: offer_prices__listings, kept
SELECT
  item_id,
  product_id,
  site_id,
  price,
  price_before,
  currency,
  price_changed_at,
  removed_at,
  first_seen_at,
  COALESCE(
    CAST('1970-01-01' AS DATE) + CAST((
      UNIX_MICROS(first_seen_at) DIV 86400000000
    ) AS INT),
    :first_day
  ) AS seen_day
FROM offer_prices__past_offers AS past_offers
WHERE
  NOT product_id IS NULL;
-- step: offer_prices__known_changes
SELECT
  change_id,
  item_id,
  CASE WHEN kind IN ('NEW', 'REMOVED', 'RELISTED') THEN kind ELSE 'CHANGED' END AS kind,
  observed_at,
  observed_date,
  price,
  previous_price,
  currency,
  changes,
  title,
  url,
  site_id,
  origin,
  run_id,
  CASE
    WHEN NOT previous_price IS NULL
    THEN previous_price
    WHEN NOT price IS NULL
    AND GET_JSON_OBJECT(changes, '$.price') RLIKE '^\\[ *null *, *-?[0-9]'
    AND TRY_CAST(GET_JSON_OBJECT(changes, '$.price[1]') AS DOUBLE) = CAST(CAST(price AS STRING) AS DOUBLE)
    THEN -1
    ELSE price
  END AS last_price
FROM history
SEMI JOIN offer_prices__listings AS listings
  USING (item_id)
WHERE
  history.kind IN ('NEW', 'REMOVED', 'RELISTED')
  OR NOT price IS NULL
  OR NOT previous_price IS NULL;
-- step: offer_prices__told, kept
SELECT
  item_id,
  observed_date AS day,
  observed_at AS told_at,
  COALESCE(
    change_id,
    NULLIF(ARRAY_POSITION(ARRAY('NEW', 'RELISTED', 'CHANGED', 'REMOVED'), kind), 0) - 5
  ) AS nth,
  kind,
  CASE WHEN kind <> 'CHANGED' THEN kind END AS listing,
  CASE
    WHEN kind = 'REMOVED'
    THEN -1
    WHEN kind = 'NEW' AND origin = 'diff'
    THEN NULL
    ELSE COALESCE(price, -1)
  END AS price,
  CASE
    WHEN kind IN ('NEW', 'RELISTED')
    THEN -1
    WHEN kind = 'REMOVED'
    THEN last_price
    ELSE COALESCE(last_price, -1)
  END AS price_before,
  last_price,
  currency,
  CASE
    WHEN CONTAINS(changes, '"currency"')
    AND GET_JSON_OBJECT(changes, '$.currency[1]') = currency
    THEN GET_JSON_OBJECT(changes, '$.currency[0]')
    ELSE currency
  END AS currency_before
FROM offer_prices__known_changes AS known_changes
UNION ALL
SELECT
  item_id,
  CAST('1970-01-01' AS DATE) + CAST((
    UNIX_MICROS(price_changed_at) DIV 86400000000
  ) AS INT),
  price_changed_at,
  -9,
  'PRICE',
  NULL,
  price,
  price_before,
  price_before,
  currency,
  currency
FROM offer_prices__listings AS listings
WHERE
  NOT price_changed_at IS NULL
UNION ALL
SELECT
  item_id,
  CAST('1970-01-01' AS DATE) + CAST((
    UNIX_MICROS(removed_at) DIV 86400000000
  ) AS INT),
  removed_at,
  9223372036854775807,
  'REMOVED',
  'REMOVED',
  -1,
  price,
  price,
  currency,
  currency
FROM offer_prices__listings AS listings
WHERE
  NOT removed_at IS NULL;
-- step: offer_prices__left_before
SELECT
  item_id,
  MAX_BY(kind, moment) FILTER(WHERE
    NOT kind IS NULL) AS kind,
  MAX_BY(listing, moment) FILTER(WHERE
    NOT listing IS NULL) AS listing,
  MAX_BY(price, moment) AS price,
  MAX_BY(currency, moment) AS currency,
  TRUE AS is_seen
FROM (
  SELECT
    item_id,
    day,
    told_at,
    nth,
    kind,
    listing,
    price,
    price_before,
    last_price,
    currency,
    currency_before,
    CAST(UNIX_MICROS(told_at) AS DECIMAL(38, 0)) * 18446744073709551616 + nth AS moment
  FROM offer_prices__told AS told
  WHERE
    day < :first_day
)
GROUP BY
  item_id;
-- step: offer_prices__steps
SELECT
  item_id,
  CASE WHEN is_seen THEN :first_day ELSE GREATEST(seen_day, :first_day) END AS day,
  NULL AS told_at,
  NULL AS nth,
  left_before.kind,
  left_before.listing,
  left_before.price,
  NULL AS price_before,
  NULL AS last_price,
  left_before.currency,
  NULL AS currency_before
FROM offer_prices__listings AS listings
LEFT JOIN offer_prices__left_before AS left_before
  USING (item_id)
UNION ALL
SELECT
  item_id,
  day,
  told_at,
  nth,
  kind,
  listing,
  price,
  price_before,
  last_price,
  currency,
  currency_before
FROM offer_prices__told AS told
WHERE
  day >= :first_day;
-- step: offer_prices__ordered
SELECT
  item_id,
  day,
  told_at,
  nth,
  kind,
  listing,
  price,
  price_before,
  last_price,
  currency,
  currency_before,
  LAST_VALUE(listing) IGNORE NULLS OVER (
    PARTITION BY item_id
    ORDER BY told_at, nth NULLS LAST
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS listing_so_far,
  LEAD(listing) IGNORE NULLS OVER in_order AS next_listing,
  LEAD(kind) OVER in_order AS next_kind,
  LEAD(kind, 2) OVER in_order AS kind_after_next,
  LEAD(price_before) OVER in_order AS next_price_before,
  LEAD(last_price) IGNORE NULLS OVER in_order AS next_last_price,
  LEAD(currency_before) OVER in_order AS next_currency_before,
  LEAD(day) OVER in_order AS next_day,
  LEAD(told_at) OVER in_order AS next_told_at
FROM offer_prices__steps AS steps
WINDOW in_order AS (PARTITION BY item_id ORDER BY told_at, nth NULLS LAST);
-- step: offer_prices__price_runs
SELECT
  item_id,
  product_id,
  site_id,
  CASE
    WHEN kind IN ('CHANGED', 'PRICE')
    AND listing_so_far = 'REMOVED'
    AND COALESCE(next_listing <> 'REMOVED', NOT listings.removed_at IS NULL)
    THEN -1
    WHEN listing_so_far IS NULL AND kind = 'PRICE' AND next_kind IN ('NEW', 'RELISTED')
    THEN -1
    WHEN listing_so_far IS NULL
    AND kind IS NULL
    AND next_kind = 'PRICE'
    AND kind_after_next IN ('NEW', 'RELISTED')
    THEN -1
    ELSE COALESCE(ordered.price, next_price_before, next_last_price, listings.price)
  END AS price,
  COALESCE(
    ordered.currency,
    CASE WHEN ordered.price IS NULL THEN next_currency_before END,
    listings.currency
  ) AS currency,
  kind,
  next_kind,
  listings.first_seen_at,
  listings.price_changed_at,
  told_at,
  next_told_at,
  day,
  next_day
FROM offer_prices__ordered AS ordered
JOIN offer_prices__listings AS listings
  USING (item_id);
-- step: offer_prices__runs
SELECT
  item_id,
  product_id,
  site_id,
  price,
  currency,
  kind,
  next_kind,
  first_seen_at,
  price_changed_at,
  told_at,
  next_told_at,
  day,
  next_day,
  day AS from_day,
  CAST(LEAST(COALESCE(next_day, CAST('9999-12-31' AS DATE)), :last_day + 1) AS DATE) AS to_day
FROM offer_prices__price_runs AS price_runs;
-- step: offer_prices
SELECT
  product_id,
  currency,
  item_id,
  site_id,
  price,
  from_day,
  to_day
FROM offer_prices__runs AS runs
WHERE
  from_day < to_day AND price > 0 AND NOT currency IS NULL;
