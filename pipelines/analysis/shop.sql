-- part of: explore
-- One shop in this copy, in one row.
-- Variables:
-- · site_id (site; required): the shop
SELECT
  sites.site_id,
  coalesce(name, sites.site_id::VARCHAR) AS shop,
  host,
  listings,
  products,
  offers_left_out,
  newest_seen_at,
  attribution
FROM sites
LEFT JOIN (
  SELECT site_id, count(*) AS listings, count(DISTINCT product_id) AS products, max(last_seen_at) AS newest_seen_at
  FROM items
  WHERE is_listed AND site_id = getvariable('site_id')::BIGINT
  GROUP BY site_id
) AS listed ON listed.site_id = sites.site_id
LEFT JOIN (
  SELECT site_id, count(*) FILTER (NOT is_counted) AS offers_left_out FROM offers WHERE site_id = getvariable('site_id')::BIGINT GROUP BY site_id
) AS judged ON judged.site_id = sites.site_id
WHERE is_current AND sites.site_id = getvariable('site_id')::BIGINT
