-- Made by generate.py from pipelines/analysis/cheapest_days.sql: change that one. Source f21da8795034a6d8.
-- step: cheapest_days__span
SELECT
  COALESCE(CAST(:since AS DATE), MAX(day) - 29) AS since
FROM price_spread_daily;
-- step: cheapest_days__won
WITH known AS (
  SELECT DISTINCT
    category_slug AS slug,
    category_name AS name,
    category_path AS path
  FROM products
  WHERE
    NOT category_slug IS NULL AND NOT :category IS NULL
), separators AS (
  SELECT
    MODE(
      REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
    ) AS separator
  FROM known
  WHERE
    ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name)
), chosen AS (
  SELECT
    COALESCE(
      (
        SELECT
          MIN(path)
        FROM known
        WHERE
          slug = :category
      ),
      CAST(:category AS STRING)
    ) AS path
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
          SELECT DISTINCT
            slug
          FROM known, chosen, separators
          WHERE
            known.slug = :category
            OR LOWER(known.path) = LOWER(chosen.path)
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
  sites.attribution
FROM cheapest_days__won AS won
LEFT JOIN sites
  USING (site_id)
WHERE
  COALESCE(sites.is_current, TRUE)
ORDER BY
  product_days DESC,
  site_id NULLS LAST;
