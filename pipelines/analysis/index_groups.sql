-- part of: price indices
-- The groups with their own index, numbered. Reads listings (index_listings.sql).
SELECT
  row_number() OVER (ORDER BY category_slug, currency, site_id, product_group, item_group, brand, dataset, region) AS key,
  *
FROM (
  SELECT DISTINCT category_slug, currency, site_id, product_group, item_group, brand, dataset, region FROM listings
)
