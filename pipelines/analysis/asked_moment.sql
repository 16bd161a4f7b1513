-- part of: movers and stock_moves
-- The moment since which moves are reported, in one row.
-- Variables:
-- · since (time; default a day before the service last saw any item): moves since then; without an offset, a time of
--   the zone for all shops
-- · since_run (run): instead of since, changes after this run; 0 means before the first run
WITH newest_run AS (
  SELECT max(run_number) AS run_number FROM runs
),
-- A run includes changes up to the time of its newest change. A time far in the future is ignored.
asked_run AS (
  SELECT CASE WHEN read_at IS NOT NULL THEN least(read_at, changed_at) END AS run_at
  FROM (
    SELECT max(coalesce(caught_up_at, finished_at)) AS read_at FROM runs WHERE run_number = getvariable('since_run')::BIGINT
  )
  CROSS JOIN (
    SELECT max(changed_at) AS changed_at
    FROM (FROM 'run_clocks.sql')
    JOIN runs USING (run_id)
    WHERE run_number <= getvariable('since_run')::BIGINT
  )
)
SELECT
  CASE
    WHEN getvariable('since_run') IS NULL
      THEN CASE
        WHEN getvariable('since') IS NULL THEN make_timestamptz(seen_us) - INTERVAL 24 HOURS
        WHEN regexp_matches(getvariable('since')::VARCHAR, '[T ].*(Z|[+-][0-9]{2}(:?[0-9]{2})?)$') THEN getvariable('since')::VARCHAR::TIMESTAMPTZ
        ELSE timezone(time_zone, getvariable('since')::VARCHAR::TIMESTAMP)
      END
    WHEN getvariable('since') IS NOT NULL THEN error('give since or since_run, not both')
    WHEN getvariable('since_run')::BIGINT = 0 THEN TIMESTAMPTZ '1970-01-01 00:00:00Z'
    WHEN run_at IS NULL
      THEN error('since_run ' || getvariable('since_run') || ' does not exist in this lake; the newest run is ' || coalesce(run_number::VARCHAR, 'none'))
    ELSE run_at
  END AS since
FROM asked_run, newest_run, (FROM 'data_clock.sql') AS clock
