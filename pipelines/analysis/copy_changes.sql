-- part of: explore
-- The growth in listings, products and shops since a moment, in one row; negative if there are fewer now. If no change
-- reports when a listing started or ended, it counts as listed from when it was first seen until it was removed.
WITH moment AS MATERIALIZED (FROM 'asked_moment.sql'),
told AS MATERIALIZED (
  SELECT item_id, arg_min(kind, observed_at) AS first_kind
  FROM history, moment
  WHERE observed_at > since AND kind IN ('NEW', 'REMOVED', 'RELISTED')
  GROUP BY item_id
),
states AS MATERIALIZED (
  SELECT
    site_id,
    product_id,
    is_listed,
    CASE
      WHEN first_kind IS NOT NULL THEN first_kind = 'REMOVED'
      WHEN first_seen_at > since THEN false
      ELSE is_listed OR coalesce(coalesce(removed_at, gone_at) > since, false)
    END AS was_listed
  FROM items
  CROSS JOIN moment
  LEFT JOIN told USING (item_id)
),
turned AS MATERIALIZED (SELECT DISTINCT site_id, product_id FROM states WHERE is_listed <> was_listed),
turned_products AS (
  SELECT bool_or(is_listed)::BIGINT - bool_or(was_listed)::BIGINT AS change
  FROM states
  SEMI JOIN turned USING (product_id)
  GROUP BY product_id
),
turned_shops AS (
  SELECT bool_or(is_listed)::BIGINT - bool_or(was_listed)::BIGINT AS change
  FROM states
  SEMI JOIN turned USING (site_id)
  GROUP BY site_id
)
SELECT
  count(*) FILTER (is_listed) - count(*) FILTER (was_listed) AS listings,
  (SELECT coalesce(sum(change), 0)::BIGINT FROM turned_products) AS products,
  (SELECT coalesce(sum(change), 0)::BIGINT FROM turned_shops) AS shops
FROM states
