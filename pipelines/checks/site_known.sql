-- name: site_known
-- severity: gate
-- description: Every item's website has a current row in sites.
-- found: [item belongs|items belong] to a website that is missing from sites
-- next: Without its website, an item has no license text. Look at the site ids in the landed file.
-- scope: row
SELECT item_id, site_id
FROM items
WHERE site_id IS NULL OR site_id NOT IN (SELECT site_id FROM sites WHERE is_current)
