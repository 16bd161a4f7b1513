-- name: history_ordered
-- severity: warn
-- description: An item's changes were observed in order. A run checks only the items that it changed.
-- found: [change was|changes were] observed before an earlier one
-- next: Compare the sample with /items/{id}/history; if the service shows the same order, it orders by change id.
-- within_run: item_id
WITH touched AS (
  SELECT DISTINCT item_id FROM history WHERE run_id = getvariable('run_id')
),
steps AS (
  SELECT
    item_id,
    change_id,
    observed_at,
    lag(observed_at) OVER (PARTITION BY item_id ORDER BY change_id) AS observed_before
  FROM history
  WHERE item_id IS NOT NULL AND change_id IS NOT NULL
    AND (getvariable('run_id') IS NULL OR item_id IN (SELECT item_id FROM touched))
)
SELECT item_id, change_id, observed_at, observed_before
FROM steps
WHERE observed_at < observed_before
