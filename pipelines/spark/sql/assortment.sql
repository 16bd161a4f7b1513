-- Made by generate.py from pipelines/analysis/assortment.sql: change that one. Source b703104b7dd8c839.
-- step: assortment__zones, kept
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
-- step: assortment__sold, kept
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
  FROM assortment__zones AS zones
  WHERE
    NOT site_id IS NULL
) AS own_zones
  USING (site_id)
CROSS JOIN (
  SELECT
    time_zone
  FROM assortment__zones AS zones
  WHERE
    site_id IS NULL
) AS common_zone;
-- step: assortment__row_zones
SELECT
  site_id,
  time_zone
FROM assortment__sold AS sold
UNION ALL
SELECT
  NULL,
  COALESCE(
    ARRAY_JOIN(ARRAY_SORT(COLLECT_LIST(DISTINCT time_zone)), ', '),
    (
      SELECT
        time_zone
      FROM assortment__zones AS zones
      WHERE
        site_id IS NULL
    )
  )
FROM assortment__sold AS sold;
-- step: assortment__span
SELECT
  CAST((
    last_day - CAST('1970-01-05' AS DATE)
  ) AS BIGINT) DIV 7 AS last_week,
  last_week - COALESCE(CAST(:weeks AS BIGINT), 13) + 1 AS first_week,
  last_day
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
-- step: assortment__days, kept
SELECT
  site_id,
  day,
  SUM(new) AS new,
  SUM(relisted) AS relisted,
  SUM(removed) AS removed
FROM (
  SELECT
    site_id,
    from_day AS day,
    COUNT(*) FILTER(WHERE
      ended_before IS NULL) AS new,
    COUNT(*) FILTER(WHERE
      ended_before <> from_at) AS relisted,
    -COUNT(*) FILTER(WHERE
      ended_before = from_at) AS removed
  FROM price_spells
  WHERE
    :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
  GROUP BY
    site_id,
    from_day
  UNION ALL
  SELECT
    site_id,
    to_day,
    0,
    0,
    COUNT(*)
  FROM price_spells
  WHERE
    NOT to_day IS NULL
    AND (
      :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
    )
  GROUP BY
    site_id,
    to_day
)
GROUP BY
  site_id,
  day;
-- step: assortment__shops
SELECT
  site_id,
  CAST((
    MIN(day) - CAST('1970-01-05' AS DATE)
  ) AS BIGINT) DIV 7 AS shop_week
FROM assortment__days AS days
GROUP BY
  site_id;
-- step: assortment__weeks, kept
SELECT
  site_id,
  shop_week,
  week,
  first_week,
  last_day,
  LEAST(CAST('1970-01-05' AS DATE) + CAST((
    7 * week + 6
  ) AS INT), last_day) AS week_end
FROM (
  SELECT
    site_id,
    shop_week,
    EXPLODE(
      IF(
        (
          last_week + 1 - 1
        ) < GREATEST(first_week - 1, shop_week),
        ARRAY(),
        SEQUENCE(GREATEST(first_week - 1, shop_week), (
          last_week + 1 - 1
        ))
      )
    ) AS week,
    first_week,
    last_day
  FROM assortment__shops AS shops, assortment__span AS span
);
-- step: assortment__moves
SELECT
  site_id,
  CAST((
    day - CAST('1970-01-05' AS DATE)
  ) AS BIGINT) DIV 7 AS week,
  SUM(new) AS new,
  SUM(relisted) AS relisted,
  SUM(removed) AS removed
FROM assortment__days AS days
GROUP BY ALL;
-- step: assortment__stocks
SELECT
  weeks.site_id,
  weeks.week,
  CAST(COALESCE(SUM(new + relisted - removed), 0) AS BIGINT) AS listed
FROM assortment__weeks AS weeks
LEFT JOIN assortment__days AS days
  ON days.site_id = weeks.site_id AND days.day <= weeks.week_end
GROUP BY ALL;
-- step: assortment__figures
SELECT
  weeks.site_id,
  weeks.week,
  first_week,
  CAST(COALESCE(new, 0) AS BIGINT) AS new,
  CAST(COALESCE(relisted, 0) AS BIGINT) AS relisted,
  CAST(COALESCE(removed, 0) AS BIGINT) AS removed,
  listed,
  LAG(listed) OVER (PARTITION BY weeks.site_id ORDER BY weeks.week NULLS LAST) AS listed_before,
  weeks.week = shop_week AS is_first
FROM assortment__weeks AS weeks
JOIN assortment__stocks AS stocks
  USING (site_id, week)
LEFT JOIN assortment__moves AS moves
  USING (site_id, week);
-- step: assortment
SELECT
  figures.site_id,
  sites.name AS shop,
  CAST('1970-01-05' AS DATE) + CAST((
    7 * figures.week
  ) AS INT) AS week,
  new,
  relisted,
  removed,
  listed,
  100 * (
    new + relisted
  ) / NULLIF(listed_before, 0) AS entry_pct,
  100 * removed / NULLIF(listed_before, 0) AS exit_pct,
  is_first,
  row_zones.time_zone,
  sites.attribution
FROM assortment__figures AS figures
LEFT JOIN sites
  ON sites.site_id = figures.site_id AND sites.is_current
LEFT JOIN assortment__row_zones AS row_zones
  ON row_zones.site_id = figures.site_id
WHERE
  figures.week >= first_week
ORDER BY
  figures.site_id NULLS LAST,
  figures.week NULLS LAST;
