-- Products that belong to another product: a sparse table, the rest stand for themselves. A product of brand and part
-- number (brand-mpn, without GTIN) joins the product of a GTIN where an offer, listed now or before, has both codes. It
-- stays alone where offers lead to more than one GTIN, where the check digit is wrong, and where the part number has no
-- digit (n/a, unknown, 000).
-- needs: items
-- values: run_id VARCHAR
WITH keyed AS (
  SELECT DISTINCT product_id FROM items WHERE contains(product_id, '-')
),
bridges AS (
  SELECT
    regexp_replace(lower(brand), '[^\p{L}\p{N}]', '', 'g') || '-' || regexp_replace(lower(mpn), '[^\p{L}\p{N}]', '', 'g') AS key,
    product_id AS gtin_id,
    item_id,
    site_id
  FROM items
  WHERE gtin14 IS NOT NULL AND brand IS NOT NULL AND regexp_matches(mpn, '[1-9]')
)
SELECT
  key AS product_id,
  min(gtin_id) AS match_id,
  'bridge' AS evidence,
  min(item_id) AS item_id,
  count(DISTINCT site_id) AS shops,
  getvariable('run_id')::VARCHAR AS run_id
FROM bridges
SEMI JOIN keyed ON keyed.product_id = bridges.key
GROUP BY key
HAVING min(gtin_id) = max(gtin_id)
