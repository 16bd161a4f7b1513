-- name: history_price_chain
-- severity: warn
-- description: A change's previous price is the last price in the item's earlier changes. A run checks only the items that it changed.
-- found: [change has|changes have] a different previous price from the change before
-- next: A gap in the feed can cause this. Compare the item with /items/{id}/history, then run pricelake sync --reconcile.
-- within_run: item_id
WITH touched AS (
  SELECT DISTINCT item_id FROM history WHERE run_id = getvariable('run_id')
),
steps AS (
  SELECT
    item_id,
    change_id,
    observed_at,
    previous_price,
    lag(price IGNORE NULLS) OVER (PARTITION BY item_id ORDER BY observed_at, change_id NULLS FIRST) AS price_before
  FROM history
  WHERE item_id IS NOT NULL AND (getvariable('run_id') IS NULL OR item_id IN (SELECT item_id FROM touched))
)
SELECT item_id, change_id, observed_at, previous_price, price_before
FROM steps
WHERE previous_price <> price_before
