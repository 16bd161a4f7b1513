-- Made by generate.py from pipelines/analysis/spread_by_category.sql: change that one. Source 16f20a2800cb97c7.
-- step: spread_by_category__trusted
SELECT
  product_id,
  currency,
  offers,
  shops,
  min,
  p25,
  median,
  p75,
  max,
  mean,
  stddev,
  spread,
  spread_pct,
  cheapest_site_id,
  dearest_site_id,
  outliers,
  inlier_min,
  inlier_median,
  inlier_max,
  inlier_mean,
  inlier_spread_pct,
  attribution,
  run_id,
  grade,
  grade_reason,
  left_out,
  trusted_shops,
  trusted_min,
  trusted_median,
  trusted_max,
  trusted_spread_pct,
  trusted_cheapest_site_id,
  trusted_dearest_site_id,
  unit,
  unit_min,
  unit_max,
  unit_spread_pct,
  COALESCE(trusted_spread_pct, inlier_spread_pct) AS pct
FROM price_spread
WHERE
  COALESCE(grade, 'A') < 'C' AND (
    :currency IS NULL OR currency = :currency
  );
-- step: spread_by_category
SELECT
  category_slug,
  MIN(category_name) AS category_name,
  MIN(category_path) AS category_path,
  COUNT(*) AS spreads,
  GET(
    TRANSFORM(
      ARRAY(ARRAY_SORT(COLLECT_LIST(pct) FILTER(WHERE
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
  ) AS p25,
  GET(
    TRANSFORM(
      ARRAY(ARRAY_SORT(COLLECT_LIST(pct) FILTER(WHERE
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
  ) AS median,
  GET(
    TRANSFORM(
      ARRAY(ARRAY_SORT(COLLECT_LIST(pct) FILTER(WHERE
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
  ) AS p75,
  MAX(pct) AS widest
FROM spread_by_category__trusted AS trusted
JOIN products
  USING (product_id)
WHERE
  NOT category_slug IS NULL
GROUP BY
  category_slug
ORDER BY
  spreads DESC,
  category_slug NULLS LAST
LIMIT CAST(LEAST(COALESCE(CAST(:top AS BIGINT), 30), 2147483647) AS INT);
