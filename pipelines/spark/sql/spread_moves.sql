-- Made by generate.py from pipelines/analysis/spread_moves.sql: change that one. Source e9bfedcdfa03b327.
-- step: spread_moves__known, kept
SELECT DISTINCT
  day
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
);
-- step: spread_moves__last
SELECT
  MAX(day) AS last_day
FROM spread_moves__known AS known;
-- step: spread_moves__asked
SELECT
  last_day,
  LEAST(
    COALESCE(
      CASE
        WHEN CAST(:since_run AS BIGINT) = 0
        THEN (
          SELECT
            MIN(day)
          FROM spread_moves__known AS known
        )
      END,
      CAST(CAST(:since AS TIMESTAMP) AS DATE),
      (
        SELECT
          CAST(MAX(COALESCE(caught_up_at, finished_at)) AS DATE)
        FROM runs
        WHERE
          run_number = CAST(:since_run AS BIGINT)
      ),
      last_day - 1
    ),
    last_day - 1
  ) AS wanted_day
FROM spread_moves__last AS last;
-- step: spread_moves__days, kept
SELECT
  last_day,
  (
    SELECT
      MAX(day)
    FROM spread_moves__known AS known
    WHERE
      day <= wanted_day
  ) AS first_day
FROM spread_moves__asked AS asked;
-- step: spread_moves__compared
SELECT
  product_id,
  currency,
  first_day,
  before.inlier_spread_pct AS before_pct,
  after.inlier_spread_pct AS spread_pct,
  after.inlier_min AS lowest,
  after.inlier_max AS highest,
  after.shops
FROM (
  SELECT
    product_id,
    currency,
    inlier_spread_pct,
    first_day
  FROM price_spread_daily
  JOIN spread_moves__days AS days
    ON day = first_day
) AS before
JOIN (
  SELECT
    product_id,
    currency,
    inlier_spread_pct,
    inlier_min,
    inlier_max,
    shops
  FROM price_spread_daily
  JOIN spread_moves__days AS days
    ON day = last_day
) AS after
  USING (product_id, currency)
WHERE
  :currency IS NULL OR currency = :currency;
-- step: spread_moves__moved
SELECT
  product_id,
  currency,
  first_day,
  before_pct,
  spread_pct,
  lowest,
  highest,
  shops,
  spread_pct - before_pct AS change,
  CASE WHEN spread_pct > before_pct THEN 'opened' ELSE 'closed' END AS kind
FROM spread_moves__compared AS compared
WHERE
  ABS(spread_pct - before_pct) >= COALESCE(CAST(:min_points AS DOUBLE), 5);
-- step: spread_moves__known_, kept
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
-- step: spread_moves__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM spread_moves__known_ AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: spread_moves__named, kept
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
    FROM spread_moves__known_ AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: spread_moves__chosen
SELECT
  path
FROM spread_moves__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: spread_moves__part
SELECT
  slug
FROM spread_moves__named AS named
UNION
SELECT
  slug
FROM spread_moves__known_ AS known, spread_moves__chosen AS chosen, spread_moves__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: spread_moves
SELECT
  kind,
  product_id,
  title,
  currency,
  before_pct,
  spread_pct,
  change,
  lowest,
  highest,
  shops,
  since_day,
  time_zone,
  of_kind
FROM (
  SELECT
    kind,
    product_id,
    title,
    currency,
    before_pct,
    spread_pct,
    change,
    lowest,
    highest,
    shops,
    first_day AS since_day,
    'UTC' AS time_zone,
    COUNT(*) OVER (PARTITION BY kind) AS of_kind,
    ROW_NUMBER() OVER (
      PARTITION BY kind
      ORDER BY ABS(change) DESC, product_id NULLS LAST, currency NULLS LAST
    ) AS _w
  FROM spread_moves__moved AS moved
  JOIN (
    SELECT
      product_id,
      title,
      category_slug
    FROM products
  ) AS named
    USING (product_id)
  JOIN (
    SELECT
      product_id,
      currency,
      trusted_spread_pct
    FROM price_spread
    WHERE
      grade < 'C'
  ) AS today
    USING (product_id, currency)
  WHERE
    SIGN(change) * (
      trusted_spread_pct - before_pct
    ) >= COALESCE(CAST(:min_points AS DOUBLE), 5)
    AND (
      :kind IS NULL OR kind = :kind
    )
    AND (
      :category IS NULL
      OR category_slug IN (
        SELECT
          slug
        FROM spread_moves__part
      )
    )
  ORDER BY
    ABS(change) DESC,
    product_id NULLS LAST,
    currency NULLS LAST
) AS _t
WHERE
  CAST(_w AS BIGINT) <= COALESCE(CAST(:top AS BIGINT), 100);
