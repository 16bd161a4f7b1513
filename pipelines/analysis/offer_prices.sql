-- What every offer cost, by runs of days: at the end of each day (UTC) from from_day until before to_day it was listed
-- at this price. Variables: first_day, last_day (DATE); run SET VARIABLE first_day = DATE '2026-10-01'; and so on before.
-- A change tells the price behind it, and the first one known also the price before it; an item without any has had its
-- price since it was first seen. The item's own row tells its last price change and its removal, if no change does.
-- Product and website are those of today. On the way -1 stands for a price that is known to be none, and nth orders
-- what is told of one instant: the own row's price, changes without an id, those with one, the own row's removal.
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
told AS (
  SELECT
    item_id,
    observed_date AS day,
    observed_at AS told_at,
    coalesce(change_id, list_position(['NEW', 'RELISTED', 'CHANGED', 'REMOVED'], kind) - 5) AS nth,
    CASE
      WHEN kind = 'REMOVED' THEN -1
      -- Found by a later read: what comes next tells the price that it had at first.
      WHEN kind = 'NEW' AND origin = 'diff' THEN NULL
      ELSE coalesce(price, -1)
    END AS price,
    CASE
      WHEN kind IN ('NEW', 'RELISTED') THEN -1
      WHEN previous_price IS NOT NULL THEN previous_price
      -- A first price, not a change of other values.
      WHEN kind = 'CHANGED' AND json_exists(changes, '$.price') THEN -1
      ELSE coalesce(price, -1)
    END AS price_before,
    currency
  FROM history
  SEMI JOIN offers USING (item_id)
  WHERE (kind <> 'CHANGED' OR price IS NOT NULL OR previous_price IS NOT NULL)
  UNION ALL
  SELECT
    item_id,
    DATE '1970-01-01' + (epoch_us(price_changed_at) // 86400000000)::INTEGER,
    price_changed_at,
    -9,
    price,
    price_before,
    currency
  FROM offers
  WHERE price_changed_at IS NOT NULL
  UNION ALL
  SELECT
    item_id,
    DATE '1970-01-01' + (epoch_us(removed_at) // 86400000000)::INTEGER,
    removed_at,
    9223372036854775807,
    -1,
    price,
    currency
  FROM offers
  WHERE removed_at IS NOT NULL
),
-- Where the range begins: what the last change before it left.
left_before AS (
  SELECT
    item_id,
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
    left_before.price,
    NULL AS price_before,
    left_before.currency
  FROM offers
  LEFT JOIN left_before USING (item_id)
  UNION ALL
  SELECT * FROM told WHERE day >= getvariable('first_day')
),
runs AS (
  SELECT
    item_id,
    coalesce(price, lead(price_before) OVER in_order) AS price,
    coalesce(currency, CASE WHEN price IS NULL THEN lead(currency) OVER in_order END) AS currency,
    day AS from_day,
    least(coalesce(lead(day) OVER in_order, DATE '9999-12-31'), getvariable('last_day') + 1)::DATE AS to_day
  FROM steps
  WINDOW in_order AS (PARTITION BY item_id ORDER BY told_at NULLS FIRST, nth)
)
SELECT
  product_id,
  coalesce(runs.currency, offers.currency) AS currency,
  item_id,
  site_id,
  coalesce(runs.price, offers.price) AS price,
  from_day,
  to_day
FROM runs
JOIN offers USING (item_id)
WHERE from_day < to_day
  AND coalesce(runs.price, offers.price) > 0
  AND coalesce(runs.currency, offers.currency) IS NOT NULL
