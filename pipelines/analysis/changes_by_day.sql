-- Changes per day by kind, up to the newest change. time_zone is the zone of the shops' days.
-- Variables:
-- · days (whole number from 1; default 60): number of days
WITH row_zones AS (FROM 'row_zones.sql'),
zones AS MATERIALIZED (FROM 'time_zones.sql'),
-- A local day differs from the UTC day by at most one day.
recent AS (
  SELECT site_id, kind, observed_date, observed_at
  FROM history
  WHERE observed_date >= (SELECT max(observed_date) FROM history) - coalesce(getvariable('days')::INTEGER, 60) - 1
),
told AS (
  SELECT
    kind,
    CASE
      WHEN coalesce(own_zones.time_zone, common_zone.time_zone) = 'UTC' THEN observed_date
      ELSE (observed_at AT TIME ZONE coalesce(own_zones.time_zone, common_zone.time_zone))::DATE
    END AS day
  FROM recent
  LEFT JOIN (FROM zones WHERE site_id IS NOT NULL) AS own_zones USING (site_id)
  CROSS JOIN (SELECT time_zone FROM zones WHERE site_id IS NULL) AS common_zone
),
counted AS MATERIALIZED (
  SELECT day, kind, count(*) AS changes FROM told GROUP BY day, kind
)
SELECT day, kind, changes, time_zone
FROM counted
CROSS JOIN (SELECT time_zone FROM row_zones WHERE site_id IS NULL)
WHERE day > (SELECT max(day) FROM counted) - coalesce(getvariable('days')::INTEGER, 60)
ORDER BY day, kind
