-- name: products_match
-- severity: warn
-- description: In the last run, products derived from items were those of the service: offers, shops and price ranges.
-- found: [product differs|products differ] from what the service derives
-- next: The API document does not show how brand and part number are matched; compare the product with /products/{id}.
-- parameter: share DOUBLE default 0.02: largest share of the products compared that may differ
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
