-- Converts landed products of the service to typed rows, one for each id: the one with the most offers. The id is
-- computed from the same values as an item's product id. Landed values are unconverted text (section 2, Product).
-- needs: landed_products
-- values: read_at VARCHAR, run_id VARCHAR
SELECT
  id AS service_id,
  product_key(coalesce(gtin, CASE WHEN regexp_full_match(id, '[0-9]+') THEN id END), brand, mpn) AS product_id,
  title, brand, mpn, gtin, category_slug,
  exact_bigint(offers) AS offers,
  exact_bigint(shops) AS shops,
  CAST(to_json(prices) AS VARCHAR) AS prices,
  CAST(getvariable('read_at') AS TIMESTAMP WITH TIME ZONE) AS read_at,
  CAST(getvariable('run_id') AS VARCHAR) AS run_id
FROM landed_products
WHERE id IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY id ORDER BY exact_bigint(offers) DESC) = 1
