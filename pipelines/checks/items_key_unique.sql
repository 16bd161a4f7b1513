-- name: items_key_unique
-- severity: gate
-- description: Every item id occurs once in items.
-- found: [item id is|item ids are] in items more than once
-- next: Look at the rows with the item ids in the sample; run_id and read_at show which run wrote each row.
-- scope: item_id
SELECT item_id, count(*) AS copies
FROM items
GROUP BY item_id
HAVING count(*) > 1
