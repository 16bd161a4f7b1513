-- part of: explore
-- How many lines of your price list are in each place (watched_places.sql).
SELECT place, count(*) AS lines
FROM (SELECT unnest(places) AS place FROM (FROM 'watched_places.sql'))
GROUP BY place
