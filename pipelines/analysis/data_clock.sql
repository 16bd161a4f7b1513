-- part of: analyses of the last days or weeks
-- The data's clock: when the service last saw any item, and the day of that time in the time zone for all shops. If a
-- row was seen more than a day after it was read or after a change made it (run_id begins with the number and the day
-- of the run), its time is wrong and ignored, unless this holds for all rows, because then this machine's clock is
-- behind.
SELECT
  seen_us,
  CASE
    WHEN time_zone = 'UTC' THEN DATE '1970-01-01' + (seen_us // 86400000000)::INTEGER
    ELSE (make_timestamptz(seen_us) AT TIME ZONE time_zone)::DATE
  END AS seen_day,
  time_zone
FROM (
  SELECT
    epoch_us(coalesce(
      max(last_seen_at) FILTER (
        epoch_us(last_seen_at) <= epoch_us(coalesce(read_at, last_seen_at)) + 86400000000
        OR DATE '1970-01-01' + (epoch_us(last_seen_at) // 86400000000)::INTEGER <= written_day + 1
      ),
      max(last_seen_at)
    )) AS seen_us
  FROM (
    SELECT
      last_seen_at,
      read_at,
      TRY_CAST(substr(run_id, 8, 4) || '-' || substr(run_id, 12, 2) || '-' || substr(run_id, 14, 2) AS DATE) AS written_day
    FROM items
  )
)
CROSS JOIN (SELECT time_zone FROM (FROM 'time_zones.sql') WHERE site_id IS NULL)
