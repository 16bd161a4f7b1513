-- part of: the report
-- Size and freshness of the copy, in one row.
WITH listings AS (
  SELECT
    count(*) AS items,
    count(*) FILTER (is_listed) AS listed,
    count(*) FILTER (is_listed AND product_id IS NOT NULL) AS matched,
    count(DISTINCT site_id) FILTER (is_listed) AS shops,
    (SELECT make_timestamptz(seen_us) FROM (FROM 'data_clock.sql')) AS newest_seen
  FROM items
),
changes AS (
  SELECT coalesce(sum(changes), 0)::BIGINT AS changes, min(first_at) AS oldest_change, max(changed_at) AS newest_change
  FROM (FROM 'run_clocks.sql')
)
SELECT
  *,
  (SELECT count(*) FROM products) AS products,
  (SELECT count(DISTINCT product_id) FROM price_spread) AS compared_products
FROM listings, changes
