-- Made by generate.py from pipelines/analysis/cheapest_days.sql: change that one. Source 45e4decdf0d188dc.
-- step: cheapest_days__span
SELECT
  COALESCE(CAST(:since AS DATE), MAX(day) - 29) AS since
FROM price_spread_daily;
-- step: cheapest_days__known, kept
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
  NOT :category IS NULL;
-- step: cheapest_days__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM cheapest_days__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: cheapest_days__named, kept
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
    FROM cheapest_days__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: cheapest_days__chosen
SELECT
  path
FROM cheapest_days__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: cheapest_days__part
SELECT
  slug
FROM cheapest_days__named AS named
UNION
SELECT
  slug
FROM cheapest_days__known AS known, cheapest_days__chosen AS chosen, cheapest_days__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: cheapest_days__won
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
          FROM cheapest_days__part
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
