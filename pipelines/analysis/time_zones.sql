-- part of: analyses of days
-- Time zones in which days begin and end, from the pipeline file (the offer_rules table): one row for all websites,
-- whose site_id is null, and one for each website with its own time zone.
-- Variables:
-- · time_zone (time zone; default analysis.timeZone of the pipeline file, else UTC): the zone of days, for all shops
SELECT NULL::BIGINT AS site_id, coalesce(getvariable('time_zone')::VARCHAR, min(text), 'UTC') AS time_zone
FROM offer_rules
WHERE rule = 'time zone' AND site_id IS NULL
UNION ALL
SELECT site_id, text
FROM offer_rules
WHERE rule = 'time zone' AND site_id IS NOT NULL AND getvariable('time_zone') IS NULL
