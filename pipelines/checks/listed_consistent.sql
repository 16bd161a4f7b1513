-- name: listed_consistent
-- severity: error
-- description: An item is listed exactly if it has no removal time and is not gone.
-- found: [item is|items are] both listed and removed, or neither
-- next: Look at the last change of the items in the sample in history.
-- scope: row
SELECT item_id, is_listed, removed_at, gone_at, change_id
FROM items
WHERE is_listed <> (removed_at IS NULL AND gone_at IS NULL)
