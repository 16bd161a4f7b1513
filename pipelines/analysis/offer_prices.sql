-- What every offer cost, by runs of days: at the end of each day (UTC) from from_day until before to_day it was listed
-- at this price. Variables: first_day, last_day (DATE); run SET VARIABLE first_day = DATE '2026-10-01'; and so on before.
-- A change tells the price behind it, and the first one known also what was before it: nothing where it is NEW or
-- RELISTED, else an offer at the price before. An item without a change has had its price since it was first seen.
-- The item's own row tells its last price change (kind PRICE) and its removal, if no change does.
-- Product and website are those of today, on all days. On the way -1 stands for a price that is known to be none, and nth
-- orders what is told of one instant: the own row's price, changes without an id, those with one, the own row's removal.
WITH offers AS (
  SELECT
    item_id,
    product_id,
    site_id,
    coalesce(price, -1) AS price,
    coalesce(previous_price, -1) AS price_before,
    currency,
    price_changed_at,
    coalesce(removed_at, gone_at) AS removed_at,
    coalesce(DATE '1970-01-01' + (epoch_us(first_seen_at) // 86400000000)::INTEGER, getvariable('first_day')) AS seen_day
  FROM items
  WHERE product_id IS NOT NULL
),
known_changes AS (
  SELECT
    *,
    CASE
      WHEN previous_price IS NOT NULL THEN previous_price
      -- A first price: the pair agrees with the change's own price, which an attribute of that name does not.
      WHEN price IS NOT NULL AND json_type(changes, '$.price[0]') = 'NULL'
        AND json_type(changes, '$.price[1]') IN ('UBIGINT', 'BIGINT', 'HUGEINT', 'UHUGEINT', 'DOUBLE')
        AND TRY_CAST(json_extract_string(changes, '$.price[1]') AS DOUBLE) = price::VARCHAR::DOUBLE THEN -1
      ELSE price
    END AS last_price
  FROM history
  SEMI JOIN offers USING (item_id)
  WHERE kind <> 'CHANGED' OR price IS NOT NULL OR previous_price IS NOT NULL
),
told AS (
  SELECT
    item_id,
    observed_date AS day,
    observed_at AS told_at,
    coalesce(change_id, list_position(['NEW', 'RELISTED', 'CHANGED', 'REMOVED'], kind) - 5) AS nth,
    kind,
    CASE
      WHEN kind = 'REMOVED' THEN -1
      -- Found by a later read: what comes next tells the price that it had at first.
      WHEN kind = 'NEW' AND origin = 'diff' THEN NULL
      ELSE coalesce(price, -1)
    END AS price,
    CASE
      WHEN kind IN ('NEW', 'RELISTED') THEN -1
      -- A removal need not tell the price.
      WHEN kind = 'REMOVED' THEN last_price
      ELSE coalesce(last_price, -1)
    END AS price_before,
    last_price,
    currency,
    -- An item may change its currency: the pair tells the one before.
    CASE
      WHEN contains(changes, '"currency"') AND json_extract_string(changes, '$.currency[1]') = currency
        THEN json_extract_string(changes, '$.currency[0]')
      ELSE currency
    END AS currency_before
  FROM known_changes
  UNION ALL
  SELECT
    item_id,
    DATE '1970-01-01' + (epoch_us(price_changed_at) // 86400000000)::INTEGER,
    price_changed_at,
    -9,
    'PRICE',
    price,
    price_before,
    price_before,
    currency,
    currency
  FROM offers
  WHERE price_changed_at IS NOT NULL
  UNION ALL
  SELECT
    item_id,
    DATE '1970-01-01' + (epoch_us(removed_at) // 86400000000)::INTEGER,
    removed_at,
    9223372036854775807,
    'REMOVED',
    -1,
    price,
    price,
    currency,
    currency
  FROM offers
  WHERE removed_at IS NOT NULL
),
-- Where the range begins: what the last change before it left.
left_before AS (
  SELECT
    item_id,
    arg_max(kind, moment) AS kind,
    arg_max(kind, moment) FILTER (kind IN ('NEW', 'RELISTED', 'REMOVED')) AS listing,
    arg_max_null(price, moment) AS price,
    arg_max_null(currency, moment) AS currency,
    true AS is_seen
  FROM (
    SELECT *, epoch_us(told_at)::HUGEINT * 18446744073709551616 + nth AS moment
    FROM told
    WHERE day < getvariable('first_day')
  )
  GROUP BY item_id
),
steps AS (
  SELECT
    item_id,
    CASE WHEN is_seen THEN getvariable('first_day') ELSE greatest(seen_day, getvariable('first_day')) END AS day,
    NULL AS told_at,
    NULL AS nth,
    left_before.kind,
    left_before.listing,
    left_before.price,
    NULL AS price_before,
    NULL AS last_price,
    left_before.currency,
    NULL AS currency_before
  FROM offers
  LEFT JOIN left_before USING (item_id)
  UNION ALL
  SELECT
    item_id, day, told_at, nth, kind,
    CASE WHEN kind IN ('NEW', 'RELISTED', 'REMOVED') THEN kind END,
    price, price_before, last_price, currency, currency_before
  FROM told
  WHERE day >= getvariable('first_day')
),
ordered AS (
  SELECT
    *,
    last_value(listing IGNORE NULLS) OVER (in_order ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS listing_so_far,
    lead(listing IGNORE NULLS) OVER in_order AS next_listing,
    lead(kind) OVER in_order AS next_kind,
    lead(kind, 2) OVER in_order AS kind_after_next,
    lead(price_before) OVER in_order AS next_price_before,
    lead(last_price IGNORE NULLS) OVER in_order AS next_last_price,
    lead(currency_before) OVER in_order AS next_currency_before,
    lead(day) OVER in_order AS next_day
  FROM steps
  WINDOW in_order AS (PARTITION BY item_id ORDER BY told_at NULLS FIRST, nth)
),
runs AS (
  SELECT
    item_id,
    CASE
      -- Values change between a removal and a re-listing, too: that lists nothing.
      WHEN kind IN ('CHANGED', 'PRICE') AND listing_so_far = 'REMOVED'
        AND coalesce(next_listing <> 'REMOVED', offers.removed_at IS NOT NULL) THEN -1
      -- Before the first listing that is known there was none, whatever the own row tells of the price.
      WHEN listing_so_far IS NULL AND kind = 'PRICE' AND next_kind IN ('NEW', 'RELISTED') THEN -1
      WHEN listing_so_far IS NULL AND kind IS NULL AND next_kind = 'PRICE' AND kind_after_next IN ('NEW', 'RELISTED') THEN -1
      ELSE coalesce(ordered.price, next_price_before, next_last_price, offers.price)
    END AS price,
    coalesce(ordered.currency, CASE WHEN ordered.price IS NULL THEN next_currency_before END, offers.currency) AS currency,
    product_id,
    site_id,
    day AS from_day,
    least(coalesce(next_day, DATE '9999-12-31'), getvariable('last_day') + 1)::DATE AS to_day
  FROM ordered
  JOIN offers USING (item_id)
)
SELECT product_id, currency, item_id, site_id, price, from_day, to_day
FROM runs
WHERE from_day < to_day AND price > 0 AND currency IS NOT NULL
