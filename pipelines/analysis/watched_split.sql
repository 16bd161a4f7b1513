-- part of: explore
-- The number of lines of your price list in each place (watched_places.sql).
SELECT place, count(*) AS lines
FROM (SELECT unnest(places) AS place FROM (FROM 'watched_places.sql'))
GROUP BY place
