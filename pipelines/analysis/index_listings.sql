-- part of: price indices
-- Listings whose prices are used in an index, with the groups that they may belong to: one row per listing and
-- currency, and per dataset if requested. first_item_id: the first listing of a chain of relaunches, otherwise the
-- listing itself.
-- Variables:
-- · by (any of all, category, shop, product, item, brand, dataset, region; default category): groups with an index each, such as
--   category and shop
-- · currency (currency): only prices in this currency
-- · site_id (site): only this shop
-- · brand (brand): only this brand, ignoring case
WITH relaunches AS (FROM 'relaunches.sql'),
listings AS (
  SELECT
    item_id, currency, any_value(product_id) AS product_id, any_value(site_id) AS site_id, any_value(category_slug) AS category_slug
  FROM price_spells
  WHERE NOT is_suspect
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
    AND (getvariable('category') IS NULL OR category_slug IN (FROM 'category_tree.sql'))
    AND (getvariable('brand') IS NULL
      OR item_id IN (SELECT item_id FROM items WHERE lower(brand) = lower(getvariable('brand')::VARCHAR)))
  GROUP BY item_id, currency
),
-- Merges spellings of a brand that differ only in case, and shows the most frequent one.
spellings AS (
  SELECT folded, brand
  FROM (
    SELECT lower(brand) AS folded, brand, count(*) AS listings
    FROM items
    WHERE brand IS NOT NULL AND contains(coalesce(getvariable('by')::VARCHAR, 'category'), 'brand')
    GROUP BY brand
  )
  QUALIFY row_number() OVER (PARTITION BY folded ORDER BY listings DESC, brand) = 1
)
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
  SELECT item_id, spellings.brand
  FROM (
    SELECT item_id, lower(brand) AS folded FROM items WHERE contains(coalesce(getvariable('by')::VARCHAR, 'category'), 'brand')
  ) AS named
  JOIN spellings USING (folded)
) AS brands ON brands.item_id = listings.item_id
LEFT JOIN (
  SELECT item_id, unnest(list_distinct(datasets)) AS dataset
  FROM items
  WHERE contains(coalesce(getvariable('by')::VARCHAR, 'category'), 'dataset')
) AS sets ON sets.item_id = listings.item_id
LEFT JOIN (
  SELECT site_id, text AS region
  FROM offer_rules
  WHERE rule = 'region' AND contains(coalesce(getvariable('by')::VARCHAR, 'category'), 'region')
) AS regions ON regions.site_id = listings.site_id
LEFT JOIN relaunches ON relaunches.item_id = listings.item_id
