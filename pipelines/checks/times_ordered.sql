-- name: times_ordered
-- severity: warn
-- description: Every item was first seen before it was last seen, changed or removed.
-- found: [item was|items were] last seen, changed or removed before [it was|they were] first seen
-- next: Compare the item with /items/{id}; daily figures count it from first_seen_at.
-- scope: row
SELECT item_id, first_seen_at, last_seen_at, last_changed_at, removed_at
FROM items
WHERE first_seen_at > last_seen_at OR first_seen_at > last_changed_at OR first_seen_at > removed_at
