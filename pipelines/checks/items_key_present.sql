-- name: items_key_present
-- severity: gate
-- description: Every item has its id, its website and the run that wrote it.
-- found: [item lacks its|items lack their] id, website or run
-- next: Look at these items in the landed file; if the export has renamed a field, set source.mapping.
-- scope: row
SELECT item_id, site_id, is_listed, run_id
FROM items
WHERE item_id IS NULL OR site_id IS NULL OR is_listed IS NULL OR run_id IS NULL
