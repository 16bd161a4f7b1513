-- Computes the usual currency of each website that sells in a single currency: at least 95 % of its listed and priced
-- items have it, and there are at least 20. Websites with several currencies have no row.
-- needs: items
-- values: run_id VARCHAR
SELECT site_id, arg_max(currency, listings) AS currency, getvariable('run_id')::VARCHAR AS run_id
FROM (
  SELECT site_id, currency, count(*) AS listings
  FROM items
  WHERE is_listed AND currency IS NOT NULL AND price IS NOT NULL
  GROUP BY site_id, currency
)
GROUP BY site_id
HAVING sum(listings) >= 20 AND max(listings) >= 0.95 * sum(listings)
