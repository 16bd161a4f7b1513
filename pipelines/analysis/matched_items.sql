-- part of: spread --by match
-- Items with their match (table matches) in place of their product: by it, the offers of products that belong together
-- are compared like those of one product.
SELECT items.* REPLACE (coalesce(matches.match_id, items.product_id) AS product_id)
FROM items
LEFT JOIN matches USING (product_id)
