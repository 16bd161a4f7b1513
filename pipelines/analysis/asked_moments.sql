-- part of: compared_listings, compared_markets and stock_moves
-- The two moments whose prices are compared, in one row. The later one is infinite if it is now.
-- Variables:
-- · until (time; default now): the later moment; a day means the end of that day
SELECT
  since,
  CASE
    WHEN getvariable('until') IS NULL THEN TIMESTAMPTZ 'infinity'
    WHEN regexp_matches(getvariable('until')::VARCHAR, '[T ].*(Z|[+-][0-9]{2}(:?[0-9]{2})?)$') THEN getvariable('until')::VARCHAR::TIMESTAMPTZ
    WHEN contains(getvariable('until')::VARCHAR, ':') THEN timezone(time_zone, getvariable('until')::VARCHAR::TIMESTAMP)
    ELSE timezone(time_zone, (getvariable('until')::VARCHAR::DATE + 1)::TIMESTAMP) - INTERVAL 1 MICROSECOND
  END AS until
FROM (FROM 'asked_moment.sql')
CROSS JOIN (FROM 'data_clock.sql')
