-- Made by generate.py from pipelines/analysis/spread_by_day.sql: change that one. Source bab95a64667b21d6.
-- step: spread_by_day__known
SELECT
  day,
  currency,
  spreads,
  p25,
  median,
  p75
FROM (
  SELECT
    day,
    currency,
    COUNT(*) AS spreads,
    GET(
      TRANSFORM(
        ARRAY(ARRAY_SORT(COLLECT_LIST(inlier_spread_pct) FILTER(WHERE
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
        ARRAY(ARRAY_SORT(COLLECT_LIST(inlier_spread_pct) FILTER(WHERE
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
        ARRAY(ARRAY_SORT(COLLECT_LIST(inlier_spread_pct) FILTER(WHERE
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
    ) AS p75
  FROM price_spread_daily
  GROUP BY
    GROUPING SETS (
      (day, currency),
      (
        day
      )
    )
)
WHERE
  currency IS NOT DISTINCT FROM :currency;
-- step: spread_by_day
SELECT
  day,
  spreads,
  p25,
  median,
  p75,
  'UTC' AS time_zone
FROM spread_by_day__known AS known
WHERE
  day > (
    SELECT
      MAX(day)
    FROM price_spread_daily
  ) - COALESCE(CAST(:days AS INT), 90)
ORDER BY
  day NULLS LAST;
