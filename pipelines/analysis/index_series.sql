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
-- Spellings of a brand that differ in case alone are one: the most frequent of them.
spellings AS (
  SELECT folded, brand
  FROM (
    SELECT lower(brand) AS folded, brand, count(*) AS listings
    FROM items
    WHERE brand IS NOT NULL AND contains(coalesce(getvariable('by')::VARCHAR, 'category'), 'brand')
    GROUP BY brand
  )
  QUALIFY row_number() OVER (PARTITION BY folded ORDER BY listings DESC, brand) = 1
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
    SELECT item_id, spellings.brand
    FROM (
      SELECT item_id, lower(brand) AS folded FROM items WHERE contains(coalesce(getvariable('by')::VARCHAR, 'category'), 'brand')
    ) AS named
    JOIN spellings USING (folded)
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
),
members AS MATERIALIZED (
  SELECT dense_rank() OVER (ORDER BY first_item_id, key) AS series, key, item_id, first_item_id, product_id, shop_id
  FROM described
  JOIN groups
    ON groups.currency = described.currency AND groups.category_slug IS NOT DISTINCT FROM described.category_slug
    AND groups.site_id IS NOT DISTINCT FROM described.site_id AND groups.brand IS NOT DISTINCT FROM described.brand
    AND groups.product_group IS NOT DISTINCT FROM described.product_group
    AND groups.item_group IS NOT DISTINCT FROM described.item_group
    AND groups.dataset IS NOT DISTINCT FROM described.dataset AND groups.region IS NOT DISTINCT FROM described.region
)
SELECT series, members.* EXCLUDE (series), groups.* EXCLUDE (key)
FROM members
JOIN groups USING (key)
