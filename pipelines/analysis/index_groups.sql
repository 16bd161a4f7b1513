-- part of: price indices
-- The groups that have an index of their own, with a number, from listings (index_listings.sql).
SELECT
  row_number() OVER (ORDER BY category_slug, currency, site_id, product_group, item_group, brand, dataset, region) AS key,
  *
FROM (
  SELECT DISTINCT category_slug, currency, site_id, product_group, item_group, brand, dataset, region FROM listings
)
