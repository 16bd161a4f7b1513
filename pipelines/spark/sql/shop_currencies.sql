-- Made by generate.py from pipelines/models/shop_currencies.sql: change that one. Source e000995d55645b94.
-- columns: site_id BIGINT, currency STRING, run_id STRING
-- step: shop_currencies
SELECT
  site_id,
  MAX_BY(currency, listings) FILTER(WHERE
    NOT currency IS NULL) AS currency,
  CAST(:run_id AS STRING) AS run_id
FROM (
  SELECT
    site_id,
    currency,
    COUNT(*) AS listings
  FROM items
  WHERE
    is_listed AND NOT currency IS NULL AND NOT price IS NULL
  GROUP BY
    site_id,
    currency
)
GROUP BY
  site_id
HAVING
  SUM(listings) >= 20 AND MAX(listings) >= 0.95 * SUM(listings);
