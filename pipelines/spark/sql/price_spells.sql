-- Made by generate.py from pipelines/analysis/price_spells.sql: change that one. Source 72283dafdbafbeef.
-- step: price_spells__listings, kept
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
-- step: price_spells__known_changes
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
SEMI JOIN price_spells__listings AS listings
  USING (item_id)
WHERE
  history.kind IN ('NEW', 'REMOVED', 'RELISTED')
  OR NOT price IS NULL
  OR NOT previous_price IS NULL;
-- step: price_spells__told
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
FROM price_spells__known_changes AS known_changes
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
FROM price_spells__listings AS listings
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
FROM price_spells__listings AS listings
WHERE
  NOT removed_at IS NULL;
-- step: price_spells__zones, kept
SELECT
  CAST(NULL AS BIGINT) AS site_id,
  COALESCE(CAST(:time_zone AS STRING), MIN(text), 'UTC') AS time_zone
FROM offer_rules
WHERE
  rule = 'time zone' AND site_id IS NULL
UNION ALL
SELECT
  site_id,
  text
FROM offer_rules
WHERE
  rule = 'time zone' AND NOT site_id IS NULL AND :time_zone IS NULL;
-- step: price_spells__steps
SELECT
  item_id,
  CAST(NULL AS DATE) AS day,
  CAST(NULL AS TIMESTAMP) AS told_at,
  CAST(NULL AS BIGINT) AS nth,
  CAST(NULL AS STRING) AS kind,
  CAST(NULL AS STRING) AS listing,
  CAST(NULL AS DECIMAL(18, 4)) AS price,
  CAST(NULL AS DECIMAL(18, 4)) AS price_before,
  CAST(NULL AS DECIMAL(18, 4)) AS last_price,
  CAST(NULL AS STRING) AS currency,
  CAST(NULL AS STRING) AS currency_before
FROM price_spells__listings AS listings
WHERE
  NOT first_seen_at IS NULL
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
FROM price_spells__told AS told;
-- step: price_spells__ordered
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
FROM price_spells__steps AS steps
WINDOW in_order AS (PARTITION BY item_id ORDER BY told_at, nth NULLS LAST);
-- step: price_spells__price_runs
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
FROM price_spells__ordered AS ordered
JOIN price_spells__listings AS listings
  USING (item_id);
-- step: price_spells__runs
SELECT
  item_id,
  price,
  currency,
  COALESCE(told_at, first_seen_at) AS from_at,
  next_told_at AS to_at,
  CASE
    WHEN kind = 'PRICE'
    THEN 'CHANGED'
    WHEN kind IS NULL
    AND price_changed_at IS NULL
    AND COALESCE(next_kind, 'REMOVED') = 'REMOVED'
    THEN 'NEW'
    ELSE kind
  END AS began,
  CASE WHEN next_kind <> 'REMOVED' THEN 'CHANGED' ELSE next_kind END AS ended
FROM price_spells__price_runs AS price_runs;
-- step: price_spells__neighbours
SELECT
  item_id,
  price,
  currency,
  from_at,
  to_at,
  began,
  ended,
  LAG(to_at) OVER in_order AS ended_before,
  LAG(price) OVER in_order AS price_before,
  LAG(currency) OVER in_order AS currency_before,
  LEAD(from_at) OVER in_order AS next_from_at,
  LEAD(price) OVER in_order AS next_price,
  LEAD(currency) OVER in_order AS next_currency
FROM price_spells__runs AS runs
WHERE
  from_at < COALESCE(to_at, CAST('9999-12-31 23:59:59.999999+00' AS TIMESTAMP))
  AND price > 0
  AND NOT currency IS NULL
WINDOW in_order AS (PARTITION BY item_id ORDER BY from_at NULLS LAST);
-- step: price_spells__marked, kept
SELECT
  item_id,
  price,
  currency,
  from_at,
  to_at,
  began,
  ended,
  ended_before,
  CASE
    WHEN ended_before = from_at AND currency_before = currency
    THEN price_before
  END AS price_before,
  COALESCE(
    ended_before <> from_at
    OR neighbours.price_before <> price
    OR currency_before <> currency,
    TRUE
  ) AS is_first,
  COALESCE(next_from_at <> to_at OR next_price <> price OR next_currency <> currency, TRUE) AS is_last
FROM price_spells__neighbours AS neighbours;
-- step: price_spells__spells, kept
SELECT
  item_id,
  price,
  currency,
  from_at,
  to_at,
  began,
  ended,
  ended_before,
  price_before
FROM price_spells__marked AS marked
WHERE
  is_first AND is_last
UNION ALL
SELECT
  item_id,
  price,
  currency,
  from_at,
  last_to_at AS to_at,
  began,
  last_ended AS ended,
  ended_before,
  price_before
FROM (
  SELECT
    item_id,
    price,
    currency,
    from_at,
    to_at,
    began,
    ended,
    ended_before,
    price_before,
    is_first,
    is_last,
    LEAD(to_at) OVER in_order AS last_to_at,
    LEAD(ended) OVER in_order AS last_ended
  FROM price_spells__marked AS marked
  WHERE
    is_first <> is_last
  WINDOW in_order AS (PARTITION BY item_id ORDER BY from_at NULLS LAST)
)
WHERE
  is_first;
-- step: price_spells__typical
SELECT
  item_id,
  currency,
  CAST(PERCENTILE_APPROX(price, 0.5) AS DOUBLE) AS typical_price
FROM price_spells__spells AS spells
GROUP BY
  item_id,
  currency
HAVING
  COUNT(*) >= 3;
-- step: price_spells__compared
SELECT
  spells.item_id,
  spells.price,
  spells.currency,
  spells.from_at,
  spells.to_at,
  spells.began,
  spells.ended,
  spells.ended_before,
  spells.price_before,
  LOG10(CAST(price AS DOUBLE) / typical_price) AS tens,
  LOG10(CAST(price_before AS DOUBLE) / typical_price) AS tens_before,
  NOT COALESCE(CAST(:with_suspects AS BOOLEAN), FALSE) AS is_judged,
  COALESCE(to_at IS NULL AND is_wrong_now, FALSE) AS is_wrong,
  COALESCE(
    to_at IS NULL AND is_listed AND own_price = price AND own_currency = currency,
    FALSE
  ) AS is_confirmed,
  listing.product_id,
  listing.site_id,
  listing.category_slug,
  COALESCE(own_zones.time_zone, common_zone.time_zone) AS time_zone
FROM price_spells__spells AS spells
JOIN (
  SELECT
    item_id,
    product_id,
    site_id,
    price AS own_price,
    currency AS own_currency,
    is_listed,
    category_slug
  FROM items
) AS listing
  USING (item_id)
LEFT JOIN price_spells__typical AS typical
  USING (item_id, currency)
LEFT JOIN (
  SELECT
    item_id,
    TRUE AS is_wrong_now
  FROM offers
  WHERE
    ARRAYS_OVERLAP(findings, ARRAY('placeholder', 'scale'))
)
  USING (item_id)
LEFT JOIN (
  SELECT
    site_id,
    time_zone
  FROM price_spells__zones AS zones
  WHERE
    NOT site_id IS NULL
) AS own_zones
  USING (site_id)
CROSS JOIN (
  SELECT
    time_zone
  FROM price_spells__zones AS zones
  WHERE
    site_id IS NULL
) AS common_zone;
-- step: price_spells
SELECT
  item_id,
  product_id,
  site_id,
  currency,
  CAST(price AS DECIMAL(18, 4)) AS price,
  from_at,
  to_at,
  CASE
    WHEN time_zone = 'UTC'
    THEN CAST('1970-01-01' AS DATE) + CAST((
      UNIX_MICROS(from_at) DIV 86400000000
    ) AS INT)
    ELSE CAST((
      FROM_UTC_TIMESTAMP(from_at, time_zone)
    ) AS DATE)
  END AS from_day,
  CASE
    WHEN time_zone = 'UTC'
    THEN CAST('1970-01-01' AS DATE) + CAST((
      UNIX_MICROS(to_at) DIV 86400000000
    ) AS INT)
    ELSE CAST((
      FROM_UTC_TIMESTAMP(to_at, time_zone)
    ) AS DATE)
  END AS to_day,
  began,
  ended,
  ended_before,
  CAST(CASE
    WHEN is_judged
    AND (
      price_before <= 0.01
      OR COALESCE(
        ABS(tens_before - ROUND(tens_before)) <= 0.2
        AND ABS(ROUND(tens_before)) BETWEEN 1 AND 3,
        FALSE
      )
    )
    THEN NULL
    ELSE price_before
  END AS DECIMAL(18, 4)) AS price_before,
  is_judged
  AND (
    price <= 0.01
    OR is_wrong
    OR COALESCE(ABS(tens - ROUND(tens)) <= 0.2 AND ABS(ROUND(tens)) BETWEEN 1 AND 3, FALSE)
  ) AS is_suspect,
  category_slug,
  is_confirmed,
  time_zone
FROM price_spells__compared AS compared;
