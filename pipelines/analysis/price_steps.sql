-- What each of some listings cost from when on, over the $days days up to the newest change: the last change of each
-- of $points equal spans of time. A price of null: the listing was removed, or showed none.
-- $item_ids: the listings
WITH span AS (
  SELECT max(observed_at) AS until, max(observed_at) - to_days($days::INTEGER) AS since FROM history
),
changed AS (
  SELECT item_id, observed_at, coalesce(change_id, 0) AS change_id, kind, previous_price, CASE WHEN kind <> 'REMOVED' THEN price END AS price
  FROM history
  WHERE list_contains($item_ids, item_id)
),
oldest AS (
  FROM changed
  QUALIFY row_number() OVER (PARTITION BY item_id ORDER BY observed_at, change_id) = 1
),
-- What held before the oldest change that the copy knows; a listing that has none has its price of today.
known_before AS (
  SELECT
    items.item_id,
    CASE WHEN oldest.kind IS NULL THEN coalesce(items.price_changed_at, first_seen_at) ELSE first_seen_at END AS observed_at,
    -1 AS change_id,
    CASE
      WHEN oldest.kind IS NULL THEN CASE WHEN is_listed THEN items.price END
      WHEN oldest.kind <> 'RELISTED' THEN coalesce(oldest.previous_price, oldest.price)
    END AS price
  FROM items
  LEFT JOIN oldest USING (item_id)
  WHERE list_contains($item_ids, items.item_id) AND oldest.kind IS DISTINCT FROM 'NEW'
),
steps AS (
  SELECT
    item_id,
    coalesce(observed_at, since) AS observed_at,
    change_id,
    price,
    since,
    CASE
      WHEN coalesce(observed_at, since) <= since THEN -1
      ELSE floor($points * (epoch_us(observed_at) - epoch_us(since)) / (epoch_us(until) - epoch_us(since) + 1))
    END AS slot
  FROM (
    SELECT item_id, observed_at, change_id, price FROM changed
    UNION ALL
    FROM known_before
  ), span
)
SELECT item_id, greatest(observed_at, since) AS observed_at, price::DOUBLE AS price
FROM steps
QUALIFY row_number() OVER (PARTITION BY item_id, slot ORDER BY observed_at DESC, change_id DESC) = 1
ORDER BY item_id, observed_at, change_id
