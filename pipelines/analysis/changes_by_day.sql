-- Changes a day by kind, over the $days days up to the newest change; days without a change have no row.
SELECT observed_date AS day, kind, count(*) AS changes
FROM history
WHERE observed_date > (SELECT max(observed_date) FROM history) - $days::INTEGER
GROUP BY observed_date, kind
ORDER BY observed_date, kind
