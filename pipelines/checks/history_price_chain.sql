-- name: history_price_chain
-- severity: warn
-- description: The previous price of a change is the price of the item's change before it. Within a run only its items are looked at.
-- next: A gap in the feed shows like this; compare the item with /items/{id}/history, then take a new snapshot.
WITH touched AS (
  SELECT DISTINCT item_id FROM history WHERE run_id = getvariable('run_id')
),
steps AS (
  SELECT
    item_id,
    change_id,
    previous_price,
    lag(price) OVER (PARTITION BY item_id ORDER BY change_id) AS price_before
  FROM history
  WHERE item_id IS NOT NULL AND (getvariable('run_id') IS NULL OR item_id IN (SELECT item_id FROM touched))
)
SELECT item_id, change_id, previous_price, price_before
FROM steps
WHERE previous_price <> price_before
