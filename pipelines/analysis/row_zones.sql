-- part of: results that depend on days
-- The time zone of the days in a row: one row for each website, and one for rows about several websites, whose site_id
-- is null and which lists all their time zones.
WITH zones AS MATERIALIZED (FROM 'time_zones.sql'),
sold AS MATERIALIZED (
  SELECT site_id, coalesce(own_zones.time_zone, common_zone.time_zone) AS time_zone
  FROM (SELECT DISTINCT site_id FROM items WHERE site_id IS NOT NULL) AS sellers
  LEFT JOIN (FROM zones WHERE site_id IS NOT NULL) AS own_zones USING (site_id)
  CROSS JOIN (SELECT time_zone FROM zones WHERE site_id IS NULL) AS common_zone
)
SELECT site_id, time_zone FROM sold
UNION ALL
SELECT
  NULL,
  coalesce(array_to_string(list_sort(list(DISTINCT time_zone)), ', '), (SELECT time_zone FROM zones WHERE site_id IS NULL))
FROM sold
