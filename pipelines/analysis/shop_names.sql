-- part of: explore
-- Every shop in this copy, sorted by name.
SELECT site_id, coalesce(name, site_id::VARCHAR) AS shop
FROM sites
WHERE is_current
ORDER BY shop, site_id
