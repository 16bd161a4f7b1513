-- Made by generate.py from pipelines/models/product_prices.sql: change that one. Source 09a8514025982097.
-- columns: product_id STRING, currency STRING, min DECIMAL(18,4), max DECIMAL(18,4), offers BIGINT, run_id STRING
-- step: product_prices
SELECT
  product_id,
  currency,
  MIN(price) AS `min`,
  MAX(price) AS `max`,
  COUNT(*) AS offers,
  CAST(:run_id AS STRING) AS run_id
FROM items
WHERE
  is_listed AND NOT product_id IS NULL AND NOT price IS NULL AND NOT currency IS NULL
GROUP BY
  product_id,
  currency;
