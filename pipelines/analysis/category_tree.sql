-- part of: every analysis that takes a category
-- Slugs of a category and of those below it, from the paths of the products' categories. The API does not say how a
-- path separates names, so the separator is the text that most paths have before their last name.
-- Variable: category (a slug, or a path of names in any case)
WITH known AS (
  SELECT DISTINCT category_slug AS slug, category_name AS name, category_path AS path
  FROM products
  WHERE category_slug IS NOT NULL AND getvariable('category') IS NOT NULL
),
separators AS (
  SELECT mode(regexp_extract(left(path, length(path) - length(name)), '[^\p{L}\p{N}]+$')) AS separator
  FROM known
  WHERE ends_with(path, name) AND length(path) > length(name)
),
chosen AS (
  SELECT coalesce((SELECT min(path) FROM known WHERE slug = getvariable('category')), getvariable('category')::VARCHAR) AS path
)
SELECT DISTINCT slug
FROM known, chosen, separators
WHERE known.slug = getvariable('category') OR lower(known.path) = lower(chosen.path)
  OR (separator <> '' AND starts_with(lower(known.path), lower(chosen.path || separator)))
