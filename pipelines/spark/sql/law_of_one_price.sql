-- Made by generate.py from pipelines/analysis/law_of_one_price.sql: change that one. Source 5b9505d25f9ed08e.
-- step: law_of_one_price__zones, kept
SELECT
  CAST(NULL AS BIGINT) AS site_id,
  COALESCE(CAST(:time_zone AS STRING), MIN(text), 'UTC') AS time_zone
FROM offer_rules
WHERE
  rule = 'time zone' AND site_id IS NULL
UNION ALL
SELECT
  site_id,
  text
FROM offer_rules
WHERE
  rule = 'time zone' AND NOT site_id IS NULL AND :time_zone IS NULL;
-- step: law_of_one_price__sold, kept
SELECT
  site_id,
  COALESCE(own_zones.time_zone, common_zone.time_zone) AS time_zone
FROM (
  SELECT DISTINCT
    site_id
  FROM items
  WHERE
    NOT site_id IS NULL
) AS sellers
LEFT JOIN (
  SELECT
    site_id,
    time_zone
  FROM law_of_one_price__zones AS zones
  WHERE
    NOT site_id IS NULL
) AS own_zones
  USING (site_id)
CROSS JOIN (
  SELECT
    time_zone
  FROM law_of_one_price__zones AS zones
  WHERE
    site_id IS NULL
) AS common_zone;
-- step: law_of_one_price__row_zones
SELECT
  site_id,
  time_zone
FROM law_of_one_price__sold AS sold
UNION ALL
SELECT
  NULL,
  COALESCE(
    ARRAY_JOIN(ARRAY_SORT(COLLECT_LIST(DISTINCT time_zone)), ', '),
    (
      SELECT
        time_zone
      FROM law_of_one_price__zones AS zones
      WHERE
        site_id IS NULL
    )
  )
FROM law_of_one_price__sold AS sold;
-- step: law_of_one_price__span, kept
SELECT
  last_day,
  CAST((
    last_day - CAST('1970-01-05' AS DATE)
  ) AS BIGINT) DIV 7 AS end_week,
  COALESCE(CAST(:weeks AS BIGINT), 26) AS weeks,
  COALESCE(CAST(:pass_weeks AS BIGINT), 4) AS pass_weeks
FROM (
  SELECT
    seen_day AS last_day
  FROM (
    SELECT
      seen_us,
      CASE
        WHEN time_zone = 'UTC'
        THEN CAST('1970-01-01' AS DATE) + CAST((
          seen_us DIV 86400000000
        ) AS INT)
        ELSE CAST((
          FROM_UTC_TIMESTAMP(TIMESTAMP_MICROS(seen_us), time_zone)
        ) AS DATE)
      END AS seen_day,
      time_zone
    FROM (
      SELECT
        UNIX_MICROS(
          COALESCE(
            MAX(last_seen_at) FILTER(WHERE
              UNIX_MICROS(last_seen_at) <= UNIX_MICROS(COALESCE(read_at, last_seen_at)) + 86400000000
              OR CAST('1970-01-01' AS DATE) + CAST((
                UNIX_MICROS(last_seen_at) DIV 86400000000
              ) AS INT) <= written_day + 1),
            MAX(last_seen_at)
          )
        ) AS seen_us
      FROM (
        SELECT
          last_seen_at,
          read_at,
          TRY_CAST(SUBSTRING(run_id, 8, 4) || '-' || SUBSTRING(run_id, 12, 2) || '-' || SUBSTRING(run_id, 14, 2) AS DATE) AS written_day
        FROM items
      )
    )
    CROSS JOIN (
      SELECT
        time_zone
      FROM (
        SELECT
          CAST(NULL AS BIGINT) AS site_id,
          COALESCE(CAST(:time_zone AS STRING), MIN(text), 'UTC') AS time_zone
        FROM offer_rules
        WHERE
          rule = 'time zone' AND site_id IS NULL
        UNION ALL
        SELECT
          site_id,
          text
        FROM offer_rules
        WHERE
          rule = 'time zone' AND NOT site_id IS NULL AND :time_zone IS NULL
      )
      WHERE
        site_id IS NULL
    )
  )
);
-- step: law_of_one_price__sundays, kept
SELECT
  week,
  CAST('1970-01-11' AS DATE) + CAST((
    7 * week
  ) AS INT) AS day
FROM (
  SELECT
    EXPLODE(
      IF(
        (
          end_week - 1
        ) < end_week - weeks,
        ARRAY(),
        SEQUENCE(end_week - weeks, (
          end_week - 1
        ))
      )
    ) AS week
  FROM law_of_one_price__span AS span
);
-- step: law_of_one_price__week_rates, kept
SELECT
  week,
  currency,
  LN(CAST(MAX_BY(rate, date) FILTER(WHERE
    NOT rate IS NULL) AS DOUBLE)) AS log_rate
FROM law_of_one_price__sundays AS sundays
JOIN rates
  ON date <= day
WHERE
  currency <> :base
GROUP BY
  week,
  currency
UNION ALL
SELECT
  week,
  CAST(:base AS STRING),
  0
FROM law_of_one_price__sundays AS sundays;
-- step: law_of_one_price__known, kept
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
-- step: law_of_one_price__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM law_of_one_price__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: law_of_one_price__named, kept
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
    FROM law_of_one_price__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: law_of_one_price__chosen
SELECT
  path
FROM law_of_one_price__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: law_of_one_price__part
SELECT
  slug
FROM law_of_one_price__named AS named
UNION
SELECT
  slug
FROM law_of_one_price__known AS known, law_of_one_price__chosen AS chosen, law_of_one_price__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: law_of_one_price__spells, kept
SELECT
  product_id,
  currency,
  price,
  CAST((
    from_day - CAST('1970-01-05' AS DATE)
  ) AS BIGINT) DIV 7 AS first_week,
  COALESCE(CAST((
    to_day - CAST('1970-01-05' AS DATE)
  ) AS BIGINT) DIV 7, end_week) AS last_week
FROM price_spells, law_of_one_price__span AS span
WHERE
  NOT product_id IS NULL
  AND NOT is_suspect
  AND COALESCE(
    CAST((
      to_day - CAST('1970-01-05' AS DATE)
    ) AS BIGINT) DIV 7 > end_week - weeks,
    TRUE
  )
  AND currency IN (
    SELECT
      currency
    FROM law_of_one_price__week_rates AS week_rates
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
          FROM law_of_one_price__part
        )
    )
  );
-- step: law_of_one_price__compared, kept
SELECT
  product_id,
  COUNT(*) OVER () AS all_products
FROM law_of_one_price__spells AS spells
GROUP BY
  product_id
HAVING
  MIN(currency) <> MAX(currency)
ORDER BY
  MD5(product_id) NULLS LAST,
  product_id NULLS LAST
LIMIT CAST(LEAST(COALESCE(CAST(:products AS BIGINT), 20000), 2147483647) AS INT);
-- step: law_of_one_price__weekly
SELECT
  product_id,
  currency,
  EXPLODE(
    IF(
      (
        LEAST(last_week, end_week) - 1
      ) < GREATEST(first_week, end_week - weeks),
      ARRAY(),
      SEQUENCE(GREATEST(first_week, end_week - weeks), (
        LEAST(last_week, end_week) - 1
      ))
    )
  ) AS week,
  price
FROM law_of_one_price__spells AS spells
SEMI JOIN law_of_one_price__compared AS compared
  USING (product_id)
CROSS JOIN law_of_one_price__span AS span;
-- step: law_of_one_price__local_prices, kept
SELECT
  product_id,
  currency,
  week,
  LN(CAST(price AS DOUBLE)) AS log_price,
  log_rate
FROM (
  SELECT
    product_id,
    currency,
    week,
    MIN(price) AS price
  FROM law_of_one_price__weekly AS weekly
  GROUP BY
    product_id,
    currency,
    week
)
JOIN law_of_one_price__week_rates AS week_rates
  USING (week, currency);
-- step: law_of_one_price__gaps, kept
SELECT
  one.currency AS first_currency,
  two.currency AS second_currency,
  product_id,
  week,
  one.log_price - two.log_price AS local_gap,
  one.log_rate - two.log_rate AS rate_gap,
  one.log_price - one.log_rate - two.log_price + two.log_rate AS gap
FROM law_of_one_price__local_prices AS one
JOIN law_of_one_price__local_prices AS two
  USING (product_id, week)
WHERE
  one.currency < two.currency;
-- step: law_of_one_price__figures
SELECT
  first_currency,
  second_currency,
  COUNT(DISTINCT product_id) AS products,
  COUNT(*) AS gaps,
  100 * MEDIAN(gap) AS median_gap,
  100 * AVG(ABS(gap)) AS mean_abs_gap,
  100 * COUNT(*) FILTER(WHERE
    ABS(gap) <= 0.01) / COUNT(*) AS law_pct
FROM law_of_one_price__gaps AS gaps
GROUP BY ALL
HAVING
  COUNT(DISTINCT product_id) >= COALESCE(CAST(:min_products AS BIGINT), 5);
-- step: law_of_one_price__steps
SELECT
  now.first_currency,
  now.second_currency,
  now.gap - AVG(now.gap) OVER product AS gap,
  before.gap - AVG(before.gap) OVER product AS gap_before
FROM (
  SELECT
    first_currency,
    second_currency,
    product_id,
    week,
    local_gap,
    rate_gap,
    gap,
    week - 1 AS week_before
  FROM law_of_one_price__gaps AS gaps
) AS now
JOIN law_of_one_price__gaps AS before
  ON before.first_currency = now.first_currency
  AND before.second_currency = now.second_currency
  AND before.product_id = now.product_id
  AND before.week = now.week_before
WINDOW product AS (PARTITION BY now.first_currency, now.second_currency, now.product_id);
-- step: law_of_one_price__persistences
SELECT
  first_currency,
  second_currency,
  COUNT(*) AS steps,
  SUM(gap * gap_before) / NULLIF(SUM(gap_before * gap_before), 0) AS persistence
FROM law_of_one_price__steps AS steps
GROUP BY ALL;
-- step: law_of_one_price__moves
SELECT
  now.first_currency,
  now.second_currency,
  now.week,
  COUNT(*) AS products,
  AVG(now.local_gap - before.local_gap) AS price_move,
  ANY_VALUE(now.rate_gap - before.rate_gap) IGNORE NULLS AS rate_move
FROM (
  SELECT
    gaps.first_currency,
    gaps.second_currency,
    gaps.product_id,
    gaps.week,
    gaps.local_gap,
    gaps.rate_gap,
    gaps.gap,
    week - pass_weeks AS week_before
  FROM law_of_one_price__gaps AS gaps, law_of_one_price__span AS span
  WHERE
    (
      end_week - 1 - week
    ) % pass_weeks = 0
) AS now
JOIN law_of_one_price__gaps AS before
  ON before.first_currency = now.first_currency
  AND before.second_currency = now.second_currency
  AND before.product_id = now.product_id
  AND before.week = now.week_before
GROUP BY
  now.first_currency,
  now.second_currency,
  now.week;
-- step: law_of_one_price__passes
SELECT
  first_currency,
  second_currency,
  CAST(SUM(products) AS BIGINT) AS moves,
  COUNT(*) AS pass_windows,
  REGR_SLOPE(price_move, rate_move) AS pass_through,
  SQRT(
    GREATEST(
      REGR_SYY(price_move, rate_move) - REGR_SLOPE(price_move, rate_move) * REGR_SXY(price_move, rate_move),
      0
    ) / (
      NULLIF(COUNT(*) - 2, 0) * NULLIF(REGR_SXX(price_move, rate_move), 0)
    )
  ) AS pass_through_error
FROM law_of_one_price__moves AS moves
GROUP BY
  first_currency,
  second_currency
HAVING
  VAR_POP(rate_move) > 1e-12;
-- step: law_of_one_price
SELECT
  figures.first_currency,
  figures.second_currency,
  figures.products,
  figures.gaps,
  figures.median_gap,
  figures.mean_abs_gap,
  figures.law_pct,
  steps,
  persistence,
  CASE WHEN persistence > 0 AND persistence < 1 THEN LN(0.5) / LN(persistence) END AS half_life_weeks,
  moves,
  pass_windows,
  pass_through,
  CASE WHEN pass_windows > 2 THEN pass_through_error END AS pass_through_error,
  (
    SELECT
      ANY_VALUE(all_products) IGNORE NULLS
    FROM law_of_one_price__compared AS compared
  ) AS all_products,
  (
    SELECT
      time_zone
    FROM law_of_one_price__row_zones AS row_zones
    WHERE
      site_id IS NULL
  ) AS time_zone
FROM law_of_one_price__figures AS figures
LEFT JOIN law_of_one_price__persistences AS persistences
  USING (first_currency, second_currency)
LEFT JOIN law_of_one_price__passes AS passes
  USING (first_currency, second_currency)
ORDER BY
  gaps DESC,
  first_currency NULLS LAST,
  second_currency NULLS LAST;
