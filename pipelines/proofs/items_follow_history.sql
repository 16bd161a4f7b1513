-- Selects items whose row doesn't match history: the last applied change, and changes after it. CHANGED updates
-- lastChangedAt; the API document doesn't say that it equals observedAt, or that a removal or relisting updates it. So
-- a row that was seen or removed after its last change may be newer than history.
-- Parameter $cursor: the feed cursor up to which items are applied. Later changes have not been applied yet.
WITH last_applied AS (
  SELECT k.*, h.change_id IS NULL AS is_unknown, h.item_id AS changed_item, h.kind, h.observed_at,
    h.price AS told_price,
    is_price_change(h.previous_price, h.price, h.changes) AS is_price_change
  FROM items AS k
  LEFT JOIN history AS h USING (change_id)
  WHERE k.change_id IS NOT NULL
),
newer AS (
  SELECT k.item_id, k.last_changed_at, h.change_id, h.observed_at
  FROM items AS k
  JOIN history AS h ON h.item_id = k.item_id AND h.change_id > k.change_id
),
rejected_changes AS (
  SELECT TRY_CAST(json_extract_string(raw, '$.item.id') AS BIGINT) AS item_id
  FROM rejects
  WHERE table_name = 'history' AND json_valid(raw)
),
faults AS (
  SELECT item_id,
    CASE
      WHEN is_unknown THEN 'change ' || change_id || ' is not in history'
      -- A change may first have arrived without its item. History then keeps it without the item.
      WHEN changed_item <> item_id THEN 'change ' || change_id || ' is of item ' || changed_item
      -- A rejected change has the same time or is newer, and history doesn't contain it.
      WHEN item_id IN (SELECT item_id FROM rejected_changes) THEN NULL
      -- A full read after the change may show a later state. The feed may deliver the earlier of two changes last.
      WHEN last_changed_at > observed_at THEN NULL
      WHEN (item_id, observed_at) IN (SELECT (item_id, observed_at) FROM newer) THEN NULL
      WHEN is_price_change AND price IS DISTINCT FROM told_price THEN 'price is not the one of its last change'
      -- The service may date a change later than its row, and may leave out the item in a removal.
      WHEN kind = 'REMOVED' AND removed_at IS NULL
          AND NOT coalesce(last_seen_at > observed_at - to_microseconds(skew_us), false)
        THEN 'removed_at is null after a REMOVED'
      WHEN kind IN ('NEW', 'RELISTED') AND removed_at <= observed_at - to_microseconds(skew_us)
        THEN 'removed_at is set after a ' || kind
    END AS fault
  FROM last_applied, (SELECT coalesce(max(feed_skew_us), 0) AS skew_us FROM runs)
),
later AS (
  SELECT item_id, min(change_id) AS change_id
  FROM newer
  WHERE observed_at > last_changed_at AND change_id <= $cursor
  GROUP BY item_id
)
SELECT item_id, fault FROM faults WHERE fault IS NOT NULL
UNION ALL
SELECT item_id, 'change ' || change_id || ' came later and is not applied' FROM later
ORDER BY item_id
