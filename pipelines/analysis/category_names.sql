-- part of: category_tree
-- Category slugs, with each name and path that listings have for them. explore computes these rows once per version of
-- the lake.
SELECT DISTINCT category_slug AS slug, category_name AS name, category_path AS path
FROM items
WHERE category_slug IS NOT NULL
