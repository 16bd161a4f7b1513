-- Made by generate.py from pipelines/analysis/spread_summary.sql: change that one. Source 3a3534d5eab171b5.
-- step: spread_summary__selected, kept
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
  COALESCE(trusted_spread_pct, inlier_spread_pct) AS trusted_pct
FROM price_spread
WHERE
  :currency IS NULL OR currency = :currency;
-- step: spread_summary__bounds
SELECT
  COALESCE(CAST(:min_shops AS BIGINT), GREATEST(2, LEAST(4, MAX(shops)))) AS min_shops
FROM spread_summary__selected AS selected;
-- step: spread_summary
SELECT
  min_shops,
  COUNT(spread_pct) AS spreads,
  COUNT(*) FILTER(WHERE
    grade = 'A') AS grade_a,
  COUNT(*) FILTER(WHERE
    grade = 'B') AS grade_b,
  COUNT(*) FILTER(WHERE
    grade = 'C') AS grade_c,
  CAST(COALESCE(SUM(left_out), 0) AS BIGINT) AS left_out,
  COUNT(*) FILTER(WHERE
    grade < 'C' AND shops >= min_shops) AS in_many_shops,
  GET(
    TRANSFORM(
      ARRAY(ARRAY_SORT(COLLECT_LIST(trusted_pct) FILTER(WHERE
        grade < 'C'))),
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
  ) AS median_pct,
  GET(
    TRANSFORM(
      ARRAY(ARRAY_SORT(COLLECT_LIST(trusted_pct) FILTER(WHERE
        grade < 'C'))),
      sorted -> GET(
        TRANSFORM(
          ARRAY(CAST(ARRAY_SIZE(sorted) - 1 AS DOUBLE) * CAST(0.9 AS DOUBLE)),
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
  ) AS p90_pct
FROM spread_summary__bounds AS bounds
LEFT JOIN spread_summary__selected AS selected
  ON TRUE
GROUP BY
  min_shops;
