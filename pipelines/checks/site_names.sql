-- name: site_names
-- severity: error
-- description: Website names in items match those in sites.
-- found: [item's website name differs|items' website names differ] from sites
-- next: The website was renamed. The next run that reads a whole item of the website corrects the name in all of its items.
-- scope: row
SELECT items.item_id, items.site_id, sites.name, items.site_name, sites.host, items.site_host
FROM items
JOIN sites ON sites.site_id = items.site_id AND sites.is_current
WHERE items.site_name <> sites.name OR items.site_host <> sites.host
