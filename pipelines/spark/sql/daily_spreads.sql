-- Made by generate.py from pipelines/analysis/daily_spreads.sql: change that one. Source 3a498fc87cfe52a9.
-- step: daily_spreads__known, kept
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
-- step: daily_spreads__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM daily_spreads__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: daily_spreads__named, kept
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
    FROM daily_spreads__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: daily_spreads__chosen
SELECT
  path
FROM daily_spreads__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: daily_spreads__part
SELECT
  slug
FROM daily_spreads__named AS named
UNION
SELECT
  slug
FROM daily_spreads__known AS known, daily_spreads__chosen AS chosen, daily_spreads__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: daily_spreads__matching
SELECT
  spread.product_id,
  spread.currency,
  spread.offers,
  spread.shops,
  spread.min,
  spread.p25,
  spread.median,
  spread.p75,
  spread.max,
  spread.mean,
  spread.stddev,
  spread.spread,
  spread.spread_pct,
  spread.cheapest_site_id,
  spread.dearest_site_id,
  spread.outliers,
  spread.inlier_min,
  spread.inlier_median,
  spread.inlier_max,
  spread.inlier_mean,
  spread.inlier_spread_pct,
  spread.attribution,
  spread.run_id,
  spread.grade,
  spread.grade_reason,
  spread.left_out,
  spread.trusted_shops,
  spread.trusted_min,
  spread.trusted_median,
  spread.trusted_max,
  spread.trusted_spread_pct,
  spread.trusted_cheapest_site_id,
  spread.trusted_dearest_site_id,
  spread.unit,
  spread.unit_min,
  spread.unit_max,
  spread.unit_spread_pct,
  products.title,
  products.brand,
  products.category_slug,
  products.category_name,
  products.category_path
FROM price_spread AS spread
LEFT JOIN products
  USING (product_id)
WHERE
  (
    :currency IS NULL OR spread.currency = :currency
  )
  AND (
    :category IS NULL
    OR products.category_slug IN (
      SELECT
        slug
      FROM daily_spreads__part
    )
  )
  AND (
    :brand IS NULL OR LOWER(products.brand) = LOWER(CAST(:brand AS STRING))
  )
  AND spread.shops >= COALESCE(CAST(:min_shops AS BIGINT), 2)
  AND (
    COALESCE(CAST(:with_outliers AS BOOLEAN), TRUE) OR spread.outliers = 0
  );
-- step: daily_spreads__first
SELECT
  product_id,
  currency
FROM daily_spreads__matching AS matching
WHERE
  grade <= COALESCE(CAST(:grade AS STRING), 'B')
ORDER BY
  trusted_spread_pct DESC,
  spread_pct DESC,
  product_id NULLS LAST,
  currency NULLS LAST
LIMIT CAST(LEAST(COALESCE(CAST(:top AS BIGINT), 20), 2147483647) AS INT);
-- step: daily_spreads__widest
SELECT
  spread.product_id,
  spread.currency,
  spread.offers,
  spread.shops,
  spread.min,
  spread.p25,
  spread.median,
  spread.p75,
  spread.max,
  spread.mean,
  spread.stddev,
  spread.spread,
  spread.spread_pct,
  spread.cheapest_site_id,
  spread.dearest_site_id,
  spread.outliers,
  spread.inlier_min,
  spread.inlier_median,
  spread.inlier_max,
  spread.inlier_mean,
  spread.inlier_spread_pct,
  spread.attribution,
  spread.run_id,
  spread.grade,
  spread.grade_reason,
  spread.left_out,
  spread.trusted_shops,
  spread.trusted_min,
  spread.trusted_median,
  spread.trusted_max,
  spread.trusted_spread_pct,
  spread.trusted_cheapest_site_id,
  spread.trusted_dearest_site_id,
  spread.unit,
  spread.unit_min,
  spread.unit_max,
  spread.unit_spread_pct,
  products.title,
  products.brand,
  products.category_slug,
  products.category_name,
  products.category_path,
  CAST(ROW_NUMBER() OVER (
    ORDER BY trusted_spread_pct DESC, spread_pct DESC, product_id NULLS LAST, currency NULLS LAST
  ) AS BIGINT) AS place
FROM price_spread AS spread
JOIN daily_spreads__first AS first
  USING (product_id, currency)
LEFT JOIN products
  USING (product_id);
-- step: daily_spreads__chosen_
SELECT
  product_id,
  currency,
  place
FROM daily_spreads__widest AS widest
WHERE
  :product IS NULL
UNION ALL
SELECT DISTINCT
  product_id,
  currency,
  0
FROM price_spread_daily
WHERE
  product_id = :product AND (
    :currency IS NULL OR currency = :currency
  );
-- step: daily_spreads__span
SELECT
  COALESCE(CAST(:since AS DATE), MAX(day) - 29) AS since
FROM price_spread_daily;
-- step: daily_spreads
SELECT
  daily.day,
  daily.product_id,
  products.title,
  products.brand,
  daily.currency,
  daily.offers,
  daily.shops,
  daily.min,
  daily.p25,
  daily.median,
  daily.p75,
  daily.max,
  daily.mean,
  daily.stddev,
  daily.spread,
  daily.spread_pct,
  daily.cheapest_site_id,
  daily.dearest_site_id,
  daily.outliers,
  daily.inlier_min,
  daily.inlier_median,
  daily.inlier_max,
  daily.inlier_mean,
  daily.inlier_spread_pct,
  daily.attribution,
  cheapest.name AS cheapest_shop,
  dearest.name AS dearest_shop,
  'UTC' AS time_zone
FROM price_spread_daily AS daily
JOIN daily_spreads__chosen_ AS chosen
  USING (product_id, currency)
JOIN daily_spreads__span AS span
  ON daily.day >= span.since
LEFT JOIN products
  USING (product_id)
LEFT JOIN sites AS cheapest
  ON cheapest.site_id = daily.cheapest_site_id AND cheapest.is_current
LEFT JOIN sites AS dearest
  ON dearest.site_id = daily.dearest_site_id AND dearest.is_current
ORDER BY
  chosen.place NULLS LAST,
  daily.product_id NULLS LAST,
  daily.currency NULLS LAST,
  daily.day NULLS LAST;
