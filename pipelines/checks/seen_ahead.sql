-- name: seen_ahead
-- severity: warn
-- description: An item was last seen more than a day after it was read.
-- found: [item was|items were] last seen more than a day after [it was|they were] read
-- next: Compare the item with /items/{id}; no analysis takes its window from this time. If all items are found, set this machine's clock.
-- scope: row
SELECT item_id, last_seen_at, read_at
FROM items
WHERE last_seen_at > read_at + INTERVAL 1 DAY
