-- name: products_match
-- severity: warn
-- description: In the last run, products derived from items had the same offers, shops and price ranges as the service's products.
-- found: [product differs|products differ] from the service's
-- next: Compare the product with /products/{id}; the API document doesn't say how the service matches brand and part number.
-- parameter: share DOUBLE default 0.02: maximum share of compared products that may differ
SELECT run_id, products_compared, mismatch.product, mismatch.differences
FROM (
  SELECT
    run_id,
    products_compared,
    unnest(from_json(product_differences, '[{"product": "VARCHAR", "differences": ["VARCHAR"]}]')) AS mismatch
  FROM runs
  WHERE run_number = (SELECT max(run_number) FROM runs)
    AND products_different > $share * products_compared
)
