-- Selects sampled items with the names of the values that differ from the lake. It doesn't count as a mismatch if the
-- item changed at the time of the lake's newest change or later, or if the read lags behind the lake. sample_watermark
-- is the time up to which a lake without the feed is complete, or null if unknown; feed_cursor is the id of the last
-- change applied to items.
-- needs: compared_items, exported_items, history, items, missing_sample, stale_items
-- values: feed_cursor BIGINT, feed_skew INTERVAL, sample_watermark VARCHAR
WITH told AS (
  SELECT coalesce(
    (SELECT max(observed_at) FROM history
      WHERE origin = 'feed' AND coalesce(change_id <= getvariable('feed_cursor'), true)),
    CAST(getvariable('sample_watermark') AS TIMESTAMP WITH TIME ZONE)
  ) - INTERVAL 1 MINUTE AS until
)
SELECT e.item_id, coalesce(d.differences, []) AS differences
FROM exported_items AS e
JOIN items AS k USING (item_id)
LEFT JOIN compared_items AS d USING (item_id)
CROSS JOIN told
WHERE coalesce(greatest(e.last_changed_at, e.removed_at) <= told.until, true)
  AND NOT coalesce(e.removed_at IS NULL AND k.removed_at IS NOT NULL AND e.last_seen_at > told.until, false)
  AND NOT is_older_row(
    e.last_changed_at, e.last_seen_at, e.removed_at, k.last_changed_at, k.last_seen_at, k.removed_at,
    e.price IS NOT DISTINCT FROM k.price AND e.title IS NOT DISTINCT FROM k.title, getvariable('feed_skew'))
  AND e.item_id NOT IN (SELECT item_id FROM stale_items)
UNION ALL
SELECT item_id, ['missing']
FROM missing_sample
JOIN items AS k USING (item_id)
CROSS JOIN told
-- A new item may not be visible at every endpoint yet.
WHERE coalesce(k.first_seen_at <= told.until - INTERVAL 1 HOUR, true)
  AND item_id NOT IN (SELECT item_id FROM stale_items)
