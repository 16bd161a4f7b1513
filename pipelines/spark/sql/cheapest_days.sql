-- Made by generate.py from pipelines/analysis/cheapest_days.sql: change that one. Source 6e722682847b202f.
-- step: cheapest_days__span
SELECT
  COALESCE(CAST(:since AS DATE), MAX(day) - 29) AS since
FROM price_spread_daily;
-- step: cheapest_days__won
WITH known AS (
  SELECT
    slug,
    name,
    path
  FROM (
    SELECT DISTINCT
      category_slug AS slug,
      category_name AS name,
      category_path AS path
    FROM items
    WHERE
      NOT category_slug IS NULL
  )
  WHERE
    NOT :category IS NULL
), separators AS (
  SELECT
    MODE(
      REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
    ) AS separator
  FROM known
  WHERE
    ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name)
), named AS (
  SELECT
    slug,
    path
  FROM (
    SELECT
      slug,
      path,
      place,
      MIN(place) OVER () AS _w
    FROM (
      SELECT
        slug,
        path,
        CASE
          WHEN slug = :category
          THEN 1
          WHEN LOWER(path) = LOWER(CAST(:category AS STRING))
          THEN 2
          WHEN LOWER(name) = LOWER(CAST(:category AS STRING))
          THEN 3
        END AS place
      FROM known
    )
    WHERE
      NOT place IS NULL
  ) AS _t
  WHERE
    place = _w
), chosen AS (
  SELECT
    path
  FROM named
  UNION
  SELECT
    CAST(:category AS STRING)
)
SELECT
  cheapest_site_id AS site_id,
  COUNT(*) AS product_days,
  COUNT(DISTINCT product_id) AS products
FROM price_spread_daily
JOIN cheapest_days__span AS span
  ON day >= since
WHERE
  (
    :currency IS NULL OR currency = :currency
  )
  AND (
    :category IS NULL
    OR product_id IN (
      SELECT
        product_id
      FROM products
      WHERE
        category_slug IN (
          SELECT
            slug
          FROM named
          UNION
          SELECT
            slug
          FROM known, chosen, separators
          WHERE
            LOWER(known.path) = LOWER(chosen.path)
            OR (
              separator <> ''
              AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
            )
        )
    )
  )
GROUP BY
  cheapest_site_id;
-- step: cheapest_days
SELECT
  site_id,
  sites.name AS shop,
  product_days,
  100 * product_days / SUM(product_days) OVER () AS share_pct,
  won.products,
  'UTC' AS time_zone,
  sites.attribution
FROM cheapest_days__won AS won
LEFT JOIN sites
  USING (site_id)
WHERE
  COALESCE(sites.is_current, TRUE)
ORDER BY
  product_days DESC,
  site_id NULLS LAST;
