-- Made by generate.py from pipelines/analysis/listing_lifetimes.sql: change that one. Source 6135ee83749f12cd.
-- step: listing_lifetimes__zones, kept
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
-- step: listing_lifetimes__sold, kept
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
  FROM listing_lifetimes__zones AS zones
  WHERE
    NOT site_id IS NULL
) AS own_zones
  USING (site_id)
CROSS JOIN (
  SELECT
    time_zone
  FROM listing_lifetimes__zones AS zones
  WHERE
    site_id IS NULL
) AS common_zone;
-- step: listing_lifetimes__row_zones
SELECT
  site_id,
  time_zone
FROM listing_lifetimes__sold AS sold
UNION ALL
SELECT
  NULL,
  COALESCE(
    ARRAY_JOIN(ARRAY_SORT(COLLECT_LIST(DISTINCT time_zone)), ', '),
    (
      SELECT
        time_zone
      FROM listing_lifetimes__zones AS zones
      WHERE
        site_id IS NULL
    )
  )
FROM listing_lifetimes__sold AS sold;
-- step: listing_lifetimes__span, kept
SELECT
  seen_day AS last_day,
  (
    SELECT
      MIN(observed_at)
    FROM history
  ) AS first_at,
  COALESCE(CAST(:gap_days AS INT), 7) AS gap_days
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
);
-- step: listing_lifetimes__spells, kept
SELECT
  item_id,
  site_id,
  from_day,
  to_day,
  time_zone,
  gap_days,
  CASE
    WHEN time_zone = 'UTC'
    THEN CAST('1970-01-01' AS DATE) + CAST((
      UNIX_MICROS(ended_before) DIV 86400000000
    ) AS INT)
    ELSE CAST((
      FROM_UTC_TIMESTAMP(ended_before, time_zone)
    ) AS DATE)
  END AS day_before
FROM price_spells, listing_lifetimes__span AS span
WHERE
  :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT);
-- step: listing_lifetimes__shops
SELECT
  site_id,
  shop_day,
  CAST((
    FROM_UTC_TIMESTAMP(first_at, time_zone)
  ) AS DATE) AS first_day
FROM (
  SELECT
    site_id,
    MIN(from_day) AS shop_day,
    ANY_VALUE(time_zone) IGNORE NULLS AS time_zone
  FROM listing_lifetimes__spells AS spells
  GROUP BY
    site_id
)
CROSS JOIN listing_lifetimes__span AS span;
-- step: listing_lifetimes__first_lives
SELECT
  item_id,
  site_id,
  MIN(from_day) AS born_day,
  COALESCE(
    MIN(day_before) FILTER(WHERE
      DATEDIFF(DAY, day_before, from_day) > gap_days),
    CASE WHEN COUNT(to_day) = COUNT(*) THEN MAX(to_day) END
  ) AS end_day
FROM listing_lifetimes__spells AS spells
GROUP BY
  item_id,
  site_id;
-- step: listing_lifetimes__known, kept
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
-- step: listing_lifetimes__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM listing_lifetimes__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: listing_lifetimes__named, kept
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
    FROM listing_lifetimes__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: listing_lifetimes__chosen
SELECT
  path
FROM listing_lifetimes__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: listing_lifetimes__part
SELECT
  slug
FROM listing_lifetimes__named AS named
UNION
SELECT
  slug
FROM listing_lifetimes__known AS known, listing_lifetimes__chosen AS chosen, listing_lifetimes__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: listing_lifetimes__lives, kept
SELECT
  GREATEST(0, DATEDIFF(DAY, born_day, first_day)) AS entry_age,
  DATEDIFF(DAY, born_day, COALESCE(end_day, last_day)) AS exit_age,
  NOT end_day IS NULL AS has_ended
FROM listing_lifetimes__first_lives AS first_lives
JOIN listing_lifetimes__shops AS shops
  USING (site_id)
CROSS JOIN listing_lifetimes__span AS span
WHERE
  (
    born_day > shop_day OR COALESCE(CAST(:with_first AS BOOLEAN), FALSE)
  )
  AND (
    born_day >= first_day OR COALESCE(end_day, last_day) > first_day
  )
  AND (
    :category IS NULL
    OR item_id IN (
      SELECT
        item_id
      FROM items
      WHERE
        category_slug IN (
          SELECT
            slug
          FROM listing_lifetimes__part
        )
    )
  );
-- step: listing_lifetimes__moves
SELECT
  age,
  CAST(SUM(ended) AS BIGINT) AS ended,
  CAST(SUM(entered) AS BIGINT) AS entered,
  CAST(SUM(left_by) AS BIGINT) AS left_by
FROM (
  SELECT
    exit_age AS age,
    CAST(has_ended AS INT) AS ended,
    0 AS entered,
    1 AS left_by
  FROM listing_lifetimes__lives AS lives
  UNION ALL
  SELECT
    entry_age,
    0,
    1,
    0
  FROM listing_lifetimes__lives AS lives
)
GROUP BY
  age;
-- step: listing_lifetimes__at_ages
SELECT
  age,
  ended,
  left_by - ended AS censored,
  CAST((
    SUM(entered) OVER (ORDER BY age NULLS LAST) - CASE WHEN age > 0 THEN entered ELSE 0 END - (
      SUM(left_by) OVER (ORDER BY age NULLS LAST) - left_by
    )
  ) AS BIGINT) AS at_risk
FROM listing_lifetimes__moves AS moves;
-- step: listing_lifetimes
SELECT
  age AS age_days,
  at_risk,
  ended,
  censored,
  AGGREGATE(
    COLLECT_LIST(1 - ended / at_risk) OVER so_far,
    CAST(1 AS DOUBLE),
    (product, one) -> product * one
  ) AS survival,
  survival * SQRT(SUM(ended / (
    at_risk * NULLIF(at_risk - ended, 0)
  )) OVER so_far) AS std_error,
  row_zones.time_zone
FROM listing_lifetimes__at_ages AS at_ages
JOIN listing_lifetimes__row_zones AS row_zones
  ON row_zones.site_id IS NOT DISTINCT FROM CAST(:site_id AS BIGINT)
WHERE
  ended > 0
WINDOW so_far AS (ORDER BY age NULLS LAST)
ORDER BY
  age NULLS LAST;
