-- Made by generate.py from pipelines/analysis/dispersion.sql: change that one. Source 4feb2b806d6be2bd.
-- step: dispersion__shop_prices, kept
SELECT
  product_id,
  currency,
  site_id,
  MIN(price) AS price
FROM offers
WHERE
  is_counted AND price > 0 AND (
    :currency IS NULL OR currency = :currency
  )
GROUP BY
  product_id,
  currency,
  site_id;
-- step: dispersion__figures
SELECT
  product_id,
  currency,
  COUNT(*) AS shops,
  MIN(price) AS lowest,
  MAX(price) AS highest,
  SUM(price) AS total,
  STDDEV_SAMP(CAST(price AS DOUBLE)) AS deviation
FROM dispersion__shop_prices AS shop_prices
GROUP BY
  product_id,
  currency
HAVING
  COUNT(*) >= GREATEST(2, COALESCE(CAST(:min_shops AS BIGINT), 2));
-- step: dispersion__known, kept
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
-- step: dispersion__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM dispersion__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: dispersion__named, kept
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
    FROM dispersion__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: dispersion__chosen_
SELECT
  path
FROM dispersion__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: dispersion__part
SELECT
  slug
FROM dispersion__named AS named
UNION
SELECT
  slug
FROM dispersion__known AS known, dispersion__chosen_ AS chosen, dispersion__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: dispersion__chosen, kept
SELECT
  figures.product_id,
  products.title,
  figures.currency,
  figures.shops,
  lowest,
  highest,
  total,
  100 * deviation / (
    CAST(total AS DOUBLE) / figures.shops
  ) AS cv_pct
FROM dispersion__figures AS figures
JOIN products
  USING (product_id)
WHERE
  :category IS NULL
  OR products.category_slug IN (
    SELECT
      slug
    FROM dispersion__part
  )
ORDER BY
  cv_pct DESC,
  figures.product_id NULLS LAST,
  figures.currency NULLS LAST
LIMIT CAST(LEAST(COALESCE(CAST(:top AS BIGINT), 50), 2147483647) AS INT);
-- step: dispersion__chosen_prices, kept
SELECT
  product_id,
  currency,
  site_id,
  price
FROM dispersion__shop_prices AS shop_prices
SEMI JOIN dispersion__chosen AS chosen
  USING (product_id, currency);
-- step: dispersion__listed
SELECT
  product_id,
  currency,
  ARRAY_SORT(COLLECT_LIST(price)) AS prices
FROM dispersion__chosen_prices AS chosen_prices
GROUP BY
  product_id,
  currency;
-- step: dispersion__credited
SELECT
  product_id,
  currency,
  ARRAY_SORT(COLLECT_LIST(DISTINCT attribution)) AS attribution
FROM dispersion__chosen_prices AS chosen_prices
JOIN sites
  USING (site_id)
WHERE
  is_current AND NOT attribution IS NULL
GROUP BY
  product_id,
  currency;
-- step: dispersion
SELECT
  product_id,
  title,
  currency,
  shops,
  lowest,
  GET(prices, 1) AS second_lowest,
  highest,
  CAST(total AS DOUBLE) / shops AS mean,
  cv_pct,
  100 * CAST((
    highest - lowest
  ) AS DOUBLE) / CAST(lowest AS DOUBLE) AS range_pct,
  GET(prices, 1) - lowest AS gap,
  100 * CAST((
    GET(prices, 1) - lowest
  ) AS DOUBLE) / CAST(lowest AS DOUBLE) AS gap_pct,
  CAST((
    total - shops * lowest
  ) AS DOUBLE) / shops AS value_of_information,
  100 * CAST((
    total - shops * lowest
  ) AS DOUBLE) / CAST(total AS DOUBLE) AS voi_pct,
  100 * ARRAY_SIZE(FILTER(prices, price -> price = GET(prices, 0))) / shops AS lowest_share_pct,
  COALESCE(attribution, ARRAY()) AS attribution
FROM dispersion__chosen AS chosen
JOIN dispersion__listed AS listed
  USING (product_id, currency)
LEFT JOIN dispersion__credited AS credited
  USING (product_id, currency)
ORDER BY
  cv_pct DESC,
  product_id NULLS LAST,
  currency NULLS LAST;
