-- Selects differing items whose differences no change of the feed explains. Differences that the feed may still explain
-- are left to it, because changes become visible about 30 seconds late, and the feeds of several datasets end at
-- different changes. Without a feed, webhooks and histories are assumed to contain every change that is at least a
-- minute older than their newest change. Items of added_datasets don't count as new.
-- needs: different_items, exported_items, history, new_changes, pending_changes, stale_items
-- values: added_datasets VARCHAR[], feed_cursor BIGINT, feed_skew INTERVAL, with_feed BOOLEAN
WITH told AS (
  SELECT max(observed_at) AS until FROM (
    SELECT max(observed_at) AS observed_at FROM new_changes WHERE change_id <= getvariable('feed_cursor')
    UNION ALL
    SELECT max(observed_at) FROM history WHERE origin = 'feed' AND change_id <= getvariable('feed_cursor')
  )
),
unnamed AS (
  SELECT observed_at FROM new_changes WHERE item_id IS NULL
),
told_items AS (
  SELECT item_id, max(observed_at) AS until
  FROM (SELECT item_id, observed_at FROM new_changes UNION ALL SELECT item_id, observed_at FROM pending_changes)
  GROUP BY item_id
)
SELECT d.*
FROM different_items AS d
JOIN exported_items AS e USING (item_id)
LEFT JOIN told_items AS t USING (item_id)
WHERE (t.item_id IS NULL OR (NOT getvariable('with_feed') AND e.last_changed_at >= t.until + INTERVAL 1 MINUTE))
  AND NOT (d.is_new AND coalesce(list_has_any(e.datasets, CAST(getvariable('added_datasets') AS VARCHAR[])), false))
  -- The feed has already reported the differences of a stale item.
  AND d.item_id NOT IN (SELECT item_id FROM stale_items)
  -- A removal doesn't have to update lastChangedAt.
  AND (NOT getvariable('with_feed')
    OR greatest(e.last_changed_at, e.removed_at, CASE WHEN d.is_new THEN e.first_seen_at END) + known_skew(getvariable('feed_skew'))
      <= (SELECT until FROM told)
    -- The feed has reported the change, but without the item.
    OR EXISTS (
      SELECT 1 FROM unnamed
      WHERE unnamed.observed_at BETWEEN greatest(e.last_changed_at, e.removed_at) - known_skew(getvariable('feed_skew'))
        AND greatest(e.last_changed_at, e.removed_at) + known_skew(getvariable('feed_skew'))))
