-- name: item_price_last_change
-- severity: error
-- description: An item has the price of its last change, unless it has changed or been relisted since. A run checks only the items that it changed.
-- found: [item's price differs|items' prices differ] from the last change
-- next: Compare the item with /items/{id}; if the service shows the item's price, history lacks its last change.
-- within_run: item_id
WITH touched AS (
  SELECT DISTINCT item_id FROM history WHERE run_id = getvariable('run_id')
),
last_told AS (
  SELECT item_id, arg_max(price, moment) AS price, arg_max(kind, moment) AS kind, max(observed_at) AS observed_at
  FROM (
    SELECT item_id, price, kind, observed_at, epoch_us(observed_at)::HUGEINT * 18446744073709551616 + coalesce(change_id, -1) AS moment
    FROM history
    WHERE item_id IS NOT NULL
      -- Changes in history after the cursor aren't applied to items yet.
      AND coalesce(change_id <= (SELECT max(cursor_to) FROM runs), origin <> 'webhook')
      AND (getvariable('run_id') IS NULL OR item_id IN (SELECT item_id FROM touched))
  )
  GROUP BY item_id
)
SELECT item_id, items.price, told.price AS last_told, told.observed_at
FROM items
JOIN last_told AS told USING (item_id)
WHERE items.price <> told.price
  AND items.last_changed_at <= told.observed_at
  -- A relisting doesn't have to update last_changed_at.
  AND NOT coalesce(items.last_seen_at > told.observed_at AND told.kind = 'REMOVED', false)
