-- name: seen_ahead
-- severity: warn
-- description: No item was last seen more than a day after it was read, unless its row comes from a change.
-- found: [item was|items were] last seen more than a day after [it was|they were] read
-- next: Compare the item with /items/{id}; analyses don't use this time as the current time. If all items are found, set this machine's clock.
-- scope: row
-- run_id begins with the number and the day of the run.
SELECT item_id, last_seen_at, read_at
FROM items
WHERE last_seen_at > read_at + INTERVAL 1 DAY
  AND DATE '1970-01-01' + (epoch_us(last_seen_at) // 86400000000)::INTEGER > coalesce(
    TRY_CAST(substr(run_id, 8, 4) || '-' || substr(run_id, 12, 2) || '-' || substr(run_id, 14, 2) AS DATE) + 1,
    DATE '1970-01-01')
