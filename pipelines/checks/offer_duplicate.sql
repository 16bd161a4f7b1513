-- name: offer_duplicate
-- severity: warn
-- description: No website lists the same page twice.
-- found: [page is|pages are] listed more than once by [its website|their websites]
-- next: The product then has too many offers. Often, two sources of one website overlap (items.source_id).
-- scope: site_id, url
SELECT site_id, url, count(*) AS items, min(item_id) AS first_item_id, max(item_id) AS last_item_id
FROM items
WHERE is_listed AND url IS NOT NULL
GROUP BY site_id, url
HAVING count(*) > 1
