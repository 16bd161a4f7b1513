-- part of: price indices
-- Listings whose prices make an index, and the group that each counts in: one row per listing, currency and group. key: the
-- group's number; series: the number of the listing's prices, which a relaunched listing shares with the one before it.
-- Variables:
-- · by (any of all, category, shop, product, item, brand, dataset, region; default category): what an index stands for, such as
--   category and shop
-- · currency (currency): only prices in this currency
-- · site_id (site): only this shop
-- · brand (brand): only this brand, ignoring case
WITH relaunches AS (FROM 'relaunches.sql'),
listings AS (
  SELECT DISTINCT item_id, currency, product_id, site_id, category_slug
  FROM price_spells
  WHERE NOT is_suspect
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
    AND (getvariable('category') IS NULL OR category_slug IN (FROM 'category_tree.sql'))
    AND (getvariable('brand') IS NULL
      OR item_id IN (SELECT item_id FROM items WHERE lower(brand) = lower(getvariable('brand')::VARCHAR)))
),
described AS (
  SELECT
    listings.item_id,
    coalesce(first_item_id, listings.item_id) AS first_item_id,
    product_id,
    currency,
    listings.site_id AS shop_id,
    CASE WHEN contains(coalesce(getvariable('by')::VARCHAR, 'category'), 'category') THEN category_slug END AS category_slug,
    CASE WHEN contains(coalesce(getvariable('by')::VARCHAR, 'category'), 'shop') THEN listings.site_id END AS site_id,
    CASE WHEN contains(coalesce(getvariable('by')::VARCHAR, 'category'), 'product') THEN product_id END AS product_group,
    CASE
      WHEN contains(coalesce(getvariable('by')::VARCHAR, 'category'), 'item') THEN coalesce(first_item_id, listings.item_id)
    END AS item_group,
    brand,
    dataset,
    region
  FROM listings
  LEFT JOIN (
    SELECT item_id, brand FROM items WHERE contains(coalesce(getvariable('by')::VARCHAR, 'category'), 'brand')
  ) AS brands ON brands.item_id = listings.item_id
  LEFT JOIN (
    SELECT item_id, unnest(datasets) AS dataset
    FROM items
    WHERE contains(coalesce(getvariable('by')::VARCHAR, 'category'), 'dataset')
  ) AS sets ON sets.item_id = listings.item_id
  LEFT JOIN (
    SELECT site_id, text AS region
    FROM offer_rules
    WHERE rule = 'region' AND contains(coalesce(getvariable('by')::VARCHAR, 'category'), 'region')
  ) AS regions ON regions.site_id = listings.site_id
  LEFT JOIN relaunches ON relaunches.item_id = listings.item_id
),
groups AS (
  SELECT
    row_number() OVER (
      ORDER BY category_slug, currency, site_id, product_group, item_group, brand, dataset, region
    ) AS key,
    *
  FROM (
    SELECT DISTINCT category_slug, currency, site_id, product_group, item_group, brand, dataset, region FROM described
  )
)
SELECT
  key,
  first_item_id::HUGEINT * 1048576 + key AS series,
  item_id,
  first_item_id,
  product_id,
  shop_id,
  groups.product_group,
  groups.item_group,
  groups.category_slug,
  groups.currency,
  groups.site_id,
  groups.brand,
  groups.dataset,
  groups.region
FROM described
JOIN groups
  ON groups.currency = described.currency AND groups.category_slug IS NOT DISTINCT FROM described.category_slug
  AND groups.site_id IS NOT DISTINCT FROM described.site_id AND groups.brand IS NOT DISTINCT FROM described.brand
  AND groups.product_group IS NOT DISTINCT FROM described.product_group
  AND groups.item_group IS NOT DISTINCT FROM described.item_group
  AND groups.dataset IS NOT DISTINCT FROM described.dataset AND groups.region IS NOT DISTINCT FROM described.region
