-- Made by generate.py from pipelines/analysis/shop_index_by_category.sql: change that one. Source c38db47aecf1357c.
-- step: shop_index_by_category__lowest
SELECT
  product_id,
  currency,
  site_id,
  MIN(price) AS price
FROM offers
WHERE
  is_counted
  AND price > 0
  AND (
    :currency IS NULL OR currency = :currency
  )
  AND (
    :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
  )
GROUP BY
  product_id,
  currency,
  site_id;
-- step: shop_index_by_category__known, kept
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
-- step: shop_index_by_category__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM shop_index_by_category__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: shop_index_by_category__named, kept
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
    FROM shop_index_by_category__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: shop_index_by_category__chosen
SELECT
  path
FROM shop_index_by_category__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: shop_index_by_category__part
SELECT
  slug
FROM shop_index_by_category__named AS named
UNION
SELECT
  slug
FROM shop_index_by_category__known AS known, shop_index_by_category__chosen AS chosen, shop_index_by_category__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: shop_index_by_category__compared
SELECT
  lowest.site_id,
  products.category_slug,
  products.category_name,
  lowest.price = spread.trusted_min AS is_cheapest,
  CAST(lowest.price AS DOUBLE) / CAST(spread.trusted_median AS DOUBLE) AS ratio
FROM shop_index_by_category__lowest AS lowest
JOIN price_spread AS spread
  USING (product_id, currency)
JOIN products
  USING (product_id)
WHERE
  spread.trusted_shops > 1
  AND (
    :category IS NULL
    OR products.category_slug IN (
      SELECT
        slug
      FROM shop_index_by_category__part
    )
  );
-- step: shop_index_by_category__figures
SELECT
  category_slug,
  MIN(category_name) AS category_name,
  site_id,
  COUNT(*) AS products,
  COUNT(*) FILTER(WHERE
    is_cheapest) AS cheapest,
  100 * COUNT(*) FILTER(WHERE
    is_cheapest) / COUNT(*) AS win_pct,
  100 * EXP(AVG(LN(ratio))) AS price_index,
  100 * GET(
    TRANSFORM(
      ARRAY(ARRAY_SORT(COLLECT_LIST(ratio) FILTER(WHERE
        TRUE))),
      sorted -> GET(
        TRANSFORM(
          ARRAY(CAST(ARRAY_SIZE(sorted) - 1 AS DOUBLE) * CAST(0.25 AS DOUBLE)),
          place -> CASE
            WHEN ARRAY_SIZE(sorted) = 0
            THEN NULL
            WHEN FLOOR(place) = place
            THEN GET(sorted, CAST(place AS INT))
            ELSE GET(sorted, CAST(FLOOR(place) AS INT)) * (
              CAST(1 AS DOUBLE) - (
                place - FLOOR(place)
              )
            ) + GET(sorted, CAST(CEIL(place) AS INT)) * (
              place - FLOOR(place)
            )
          END
        ),
        0
      )
    ),
    0
  ) AS index_p25,
  100 * GET(
    TRANSFORM(
      ARRAY(ARRAY_SORT(COLLECT_LIST(ratio) FILTER(WHERE
        TRUE))),
      sorted -> GET(
        TRANSFORM(
          ARRAY(CAST(ARRAY_SIZE(sorted) - 1 AS DOUBLE) * CAST(0.5 AS DOUBLE)),
          place -> CASE
            WHEN ARRAY_SIZE(sorted) = 0
            THEN NULL
            WHEN FLOOR(place) = place
            THEN GET(sorted, CAST(place AS INT))
            ELSE GET(sorted, CAST(FLOOR(place) AS INT)) * (
              CAST(1 AS DOUBLE) - (
                place - FLOOR(place)
              )
            ) + GET(sorted, CAST(CEIL(place) AS INT)) * (
              place - FLOOR(place)
            )
          END
        ),
        0
      )
    ),
    0
  ) AS index_median,
  100 * GET(
    TRANSFORM(
      ARRAY(ARRAY_SORT(COLLECT_LIST(ratio) FILTER(WHERE
        TRUE))),
      sorted -> GET(
        TRANSFORM(
          ARRAY(CAST(ARRAY_SIZE(sorted) - 1 AS DOUBLE) * CAST(0.75 AS DOUBLE)),
          place -> CASE
            WHEN ARRAY_SIZE(sorted) = 0
            THEN NULL
            WHEN FLOOR(place) = place
            THEN GET(sorted, CAST(place AS INT))
            ELSE GET(sorted, CAST(FLOOR(place) AS INT)) * (
              CAST(1 AS DOUBLE) - (
                place - FLOOR(place)
              )
            ) + GET(sorted, CAST(CEIL(place) AS INT)) * (
              place - FLOOR(place)
            )
          END
        ),
        0
      )
    ),
    0
  ) AS index_p75,
  GROUPING(category_slug) = 1 AS is_total
FROM shop_index_by_category__compared AS compared
GROUP BY
  GROUPING SETS (
    (category_slug, site_id),
    (
      site_id
    )
  )
HAVING
  COUNT(*) >= COALESCE(CAST(:min_products AS BIGINT), 5);
-- step: shop_index_by_category
SELECT
  figures.category_slug,
  CASE WHEN NOT is_total THEN category_name END AS category_name,
  figures.site_id,
  sites.name AS shop,
  sites.host,
  products,
  cheapest,
  win_pct,
  price_index,
  index_p25,
  index_median,
  index_p75,
  sites.attribution
FROM shop_index_by_category__figures AS figures
LEFT JOIN sites
  ON sites.site_id = figures.site_id AND sites.is_current
WHERE
  (
    is_total OR NOT category_slug IS NULL
  )
  AND (
    :by IS NULL OR is_total = (
      :by = 'shop'
    )
  )
ORDER BY
  is_total DESC,
  category_slug NULLS LAST,
  win_pct DESC,
  figures.site_id NULLS LAST;
