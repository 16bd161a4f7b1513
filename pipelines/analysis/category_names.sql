-- part of: category_tree
-- Slugs of categories, with each name and path that listings give them. explore makes these rows once for a version of the
-- lake.
SELECT DISTINCT category_slug AS slug, category_name AS name, category_path AS path
FROM items
WHERE category_slug IS NOT NULL
