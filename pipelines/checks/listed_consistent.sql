-- name: listed_consistent
-- severity: error
-- description: An item is listed if and only if it has no removal time and isn't gone.
-- found: [item is|items are] both listed and removed, or neither
-- next: In history, look at the last changes of the items in the sample.
-- scope: row
SELECT item_id, is_listed, removed_at, gone_at, change_id
FROM items
WHERE is_listed <> (removed_at IS NULL AND gone_at IS NULL)
