-- part of: watch
-- The offers of the products in watch_list, without your own shop. is_counted: the price is compared; is_right: it
-- counts in the offers table.
-- Variables:
-- · own_site (site): your own shop, which is left out
-- · with_suspects (true or false; default false): compare every price above zero
SELECT
  * EXCLUDE (is_counted),
  is_counted AS is_right,
  price > 0 AND (is_counted OR coalesce(getvariable('with_suspects')::BOOLEAN, false)) AS is_counted
FROM (FROM 'all_offers.sql')
WHERE product_id IN (SELECT product_id FROM watch_list)
  AND (getvariable('own_site') IS NULL OR site_id <> getvariable('own_site')::BIGINT)
