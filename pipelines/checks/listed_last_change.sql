-- name: listed_last_change
-- severity: error
-- description: An item is removed if and only if its last change says so, unless it has changed, been found or been removed since. A run checks only the items that it changed.
-- found: [item is|items are] listed although the last change says removed, or vice versa
-- next: Compare the item with /items/{id} and its history; pricelake sync --reconcile repairs items.
-- within_run: item_id
WITH touched AS (
  SELECT DISTINCT item_id FROM history WHERE run_id = getvariable('run_id')
),
last_told AS (
  SELECT item_id, arg_max(kind, moment) AS kind, max(observed_at) AS observed_at
  FROM (
    SELECT item_id, kind, observed_at, epoch_us(observed_at)::HUGEINT * 18446744073709551616 + coalesce(change_id, -1) AS moment
    FROM history
    WHERE item_id IS NOT NULL
      -- Changes in history after the cursor aren't applied to items yet.
      AND coalesce(change_id <= (SELECT max(cursor_to) FROM runs), origin <> 'webhook')
      AND (getvariable('run_id') IS NULL OR item_id IN (SELECT item_id FROM touched))
  )
  GROUP BY item_id
)
SELECT item_id, items.removed_at, told.kind AS last_kind, told.observed_at
FROM items
JOIN last_told AS told USING (item_id)
WHERE (items.removed_at IS NOT NULL) <> (told.kind = 'REMOVED')
  -- A kind that the API document doesn't define proves nothing about the listing.
  AND told.kind IN ('NEW', 'CHANGED', 'REMOVED', 'RELISTED')
  AND items.last_changed_at <= told.observed_at
  -- A removal or a relisting doesn't have to update last_changed_at.
  AND coalesce(CASE WHEN items.removed_at IS NULL THEN items.last_seen_at ELSE items.removed_at END <= told.observed_at, true)
