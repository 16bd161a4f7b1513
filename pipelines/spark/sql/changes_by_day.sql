-- Made by generate.py from pipelines/analysis/changes_by_day.sql: change that one. Source ad83dd62be70933d.
-- step: changes_by_day__zones, kept
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
-- step: changes_by_day__sold, kept
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
  FROM changes_by_day__zones AS zones
  WHERE
    NOT site_id IS NULL
) AS own_zones
  USING (site_id)
CROSS JOIN (
  SELECT
    time_zone
  FROM changes_by_day__zones AS zones
  WHERE
    site_id IS NULL
) AS common_zone;
-- step: changes_by_day__row_zones
SELECT
  site_id,
  time_zone
FROM changes_by_day__sold AS sold
UNION ALL
SELECT
  NULL,
  COALESCE(
    ARRAY_JOIN(ARRAY_SORT(COLLECT_LIST(DISTINCT time_zone)), ', '),
    (
      SELECT
        time_zone
      FROM changes_by_day__zones AS zones
      WHERE
        site_id IS NULL
    )
  )
FROM changes_by_day__sold AS sold;
-- step: changes_by_day__zones_, kept
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
-- step: changes_by_day__recent
SELECT
  site_id,
  kind,
  observed_date,
  observed_at
FROM history
WHERE
  observed_date >= (
    SELECT
      MAX(observed_date)
    FROM history
  ) - COALESCE(CAST(:days AS INT), 60) - 1;
-- step: changes_by_day__told
SELECT
  kind,
  CASE
    WHEN COALESCE(own_zones.time_zone, common_zone.time_zone) = 'UTC'
    THEN observed_date
    ELSE CAST((
      FROM_UTC_TIMESTAMP(observed_at, COALESCE(own_zones.time_zone, common_zone.time_zone))
    ) AS DATE)
  END AS day
FROM changes_by_day__recent AS recent
LEFT JOIN (
  SELECT
    site_id,
    time_zone
  FROM changes_by_day__zones_ AS zones
  WHERE
    NOT site_id IS NULL
) AS own_zones
  USING (site_id)
CROSS JOIN (
  SELECT
    time_zone
  FROM changes_by_day__zones_ AS zones
  WHERE
    site_id IS NULL
) AS common_zone;
-- step: changes_by_day__counted, kept
SELECT
  day,
  kind,
  COUNT(*) AS changes
FROM changes_by_day__told AS told
GROUP BY
  day,
  kind;
-- step: changes_by_day
SELECT
  day,
  kind,
  changes,
  time_zone
FROM changes_by_day__counted AS counted
CROSS JOIN (
  SELECT
    time_zone
  FROM changes_by_day__row_zones AS row_zones
  WHERE
    site_id IS NULL
)
WHERE
  day > (
    SELECT
      MAX(day)
    FROM changes_by_day__counted AS counted
  ) - COALESCE(CAST(:days AS INT), 60)
ORDER BY
  day NULLS LAST,
  kind NULLS LAST;
