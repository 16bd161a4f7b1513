-- name: items_key_unique
-- severity: gate
-- description: Every item id is in items once.
-- found: [item id stands|item ids stand] in items more than once
-- next: Look at the rows of the item ids in the sample; their run_id and read_at tell which run wrote each.
-- scope: item_id
SELECT item_id, count(*) AS copies
FROM items
GROUP BY item_id
HAVING count(*) > 1
