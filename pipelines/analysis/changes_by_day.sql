-- Changes per day by kind, up to the newest change. Days without changes have no rows.
-- Variables:
-- · days (whole number from 1; default 60): how many days
SELECT observed_date AS day, kind, count(*) AS changes
FROM history
WHERE observed_date > (SELECT max(observed_date) FROM history) - coalesce(getvariable('days')::INTEGER, 60)
GROUP BY observed_date, kind
ORDER BY observed_date, kind
