-- part of: spread --by match
-- Items with their match (the matches table) in place of their product, so that the offers of products that belong
-- together are compared like offers of one product.
SELECT items.* REPLACE (coalesce(matches.match_id, items.product_id) AS product_id)
FROM items
LEFT JOIN matches USING (product_id)
