-- part of: price indices
-- The settings of an index, in one row.
-- Variables:
-- · period (month | week | day; default month): length of a period
-- · since (day; default everything for months, else 52 weeks or 60 days): first day
-- · until (day; default the last day in the lake): last day
SELECT
  coalesce(getvariable('period')::VARCHAR, 'month') AS unit,
  coalesce(getvariable('until')::DATE, seen_day) AS until_day,
  coalesce(
    getvariable('since')::DATE,
    CASE unit WHEN 'week' THEN until_day - 364 WHEN 'day' THEN until_day - 60 ELSE DATE '0001-01-01' END
  ) AS since_day
FROM (FROM 'data_clock.sql')
