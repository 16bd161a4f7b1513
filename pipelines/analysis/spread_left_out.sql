-- part of: spread
-- Number of matching price spreads below the lowest grade that is shown.
-- Variables:
-- · grade (A | B | C; default B): the lowest grade to show
WITH matching AS (FROM 'matching_spreads.sql')
SELECT count(*) AS spreads, count(*) FILTER (grade > coalesce(getvariable('grade')::VARCHAR, 'B')) AS left_out
FROM matching
