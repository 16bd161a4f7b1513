-- part of: widest_spreads and daily_spreads
-- The widest of the selected price spreads, by trusted prices; place 1 is the widest.
-- Variables:
-- · grade (A | B | C; default B): the lowest grade to show
-- · top (whole number; default 20): number of rows
WITH matching AS (FROM 'matching_spreads.sql'),
-- First reads few columns of many rows, then all columns of the chosen ones.
first AS (
  SELECT product_id, currency
  FROM matching
  WHERE grade <= coalesce(getvariable('grade')::VARCHAR, 'B')
  ORDER BY trusted_spread_pct DESC NULLS LAST, spread_pct DESC, product_id, currency
  LIMIT coalesce(getvariable('top')::BIGINT, 20)
)
SELECT
  spread.*,
  products.title,
  products.brand,
  products.category_slug,
  products.category_name,
  products.category_path,
  row_number() OVER (ORDER BY trusted_spread_pct DESC NULLS LAST, spread_pct DESC, product_id, currency) AS place
FROM price_spread AS spread
JOIN first USING (product_id, currency)
LEFT JOIN products USING (product_id)
