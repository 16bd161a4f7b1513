-- part of: analyses of days
-- The start of the first day and the end of the last day of a span, in microseconds: one row for each time zone of the
-- websites. Reads span (since_day, until_day).
SELECT
  time_zone,
  CASE
    WHEN time_zone = 'UTC' THEN (since_day - DATE '1970-01-01')::BIGINT * 86400000000
    ELSE epoch_us(timezone(time_zone, since_day::TIMESTAMP))
  END AS since_us,
  CASE
    WHEN time_zone = 'UTC' THEN (end_day - DATE '1970-01-01')::BIGINT * 86400000000
    ELSE epoch_us(timezone(time_zone, end_day::TIMESTAMP))
  END AS until_us
FROM (SELECT DISTINCT time_zone FROM (FROM 'time_zones.sql'))
CROSS JOIN (SELECT since_day, until_day + 1 AS end_day FROM span)
