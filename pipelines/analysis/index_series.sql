-- part of: price indices
-- The listings whose prices an index compares: one row per listing and group. Reads listings and groups
-- (index_listings.sql, index_groups.sql). key: the group's number; series: the number of the listing's price series,
-- which a relaunched listing shares with its predecessor.
SELECT
  dense_rank() OVER (ORDER BY first_item_id, key) AS series, key, item_id, first_item_id, product_id, listings.currency, shop_id
FROM listings
JOIN groups
  ON groups.currency = listings.currency AND groups.category_slug IS NOT DISTINCT FROM listings.category_slug
  AND groups.site_id IS NOT DISTINCT FROM listings.site_id AND groups.brand IS NOT DISTINCT FROM listings.brand
  AND groups.product_group IS NOT DISTINCT FROM listings.product_group
  AND groups.item_group IS NOT DISTINCT FROM listings.item_group
  AND groups.dataset IS NOT DISTINCT FROM listings.dataset AND groups.region IS NOT DISTINCT FROM listings.region
