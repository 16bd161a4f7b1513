-- part of: every analysis that takes a category
-- Slugs of a category and its subcategories, from the paths of the listings' categories. The API document doesn't
-- define the separator in a path, so it is taken to be the text that precedes the last name in most paths.
-- Variables:
-- · category (category): only this category and its subcategories: a slug, a path or a name
WITH known AS (
  SELECT slug, name, path FROM (FROM 'category_names.sql') WHERE getvariable('category') IS NOT NULL
),
separators AS (
  SELECT mode(regexp_extract(left(path, length(path) - length(name)), '[^\p{L}\p{N}]+$')) AS separator
  FROM known
  WHERE ends_with(path, name) AND length(path) > length(name)
),
-- Several categories may have the same name; a matching slug or path takes precedence.
named AS (
  SELECT slug, path
  FROM (
    SELECT
      slug, path,
      CASE
        WHEN slug = getvariable('category') THEN 1
        WHEN lower(path) = lower(getvariable('category')::VARCHAR) THEN 2
        WHEN lower(name) = lower(getvariable('category')::VARCHAR) THEN 3
      END AS place
    FROM known
  )
  WHERE place IS NOT NULL
  QUALIFY place = min(place) OVER ()
),
chosen AS (
  SELECT path FROM named
  UNION
  SELECT getvariable('category')::VARCHAR
)
SELECT slug FROM named
UNION
SELECT slug
FROM known, chosen, separators
WHERE lower(known.path) = lower(chosen.path)
  OR (separator <> '' AND starts_with(lower(known.path), lower(chosen.path || separator)))
