-- Computes the price range of each product and currency over its listed offers with a price.
-- needs: items
-- values: run_id VARCHAR
SELECT
  product_id,
  currency,
  min(price) AS "min",
  max(price) AS "max",
  count(*) AS offers,
  getvariable('run_id')::VARCHAR AS run_id
FROM items
WHERE is_listed AND product_id IS NOT NULL AND price IS NOT NULL AND currency IS NOT NULL
GROUP BY product_id, currency
