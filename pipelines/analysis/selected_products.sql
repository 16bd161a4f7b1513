-- part of: analyses of moves and spread_summary
-- The products of a brand, of your price list, or of both. Without these variables, there are no rows.
-- Variables:
-- · brand (brand): only this brand, ignoring case
SELECT product_id
FROM products
WHERE (getvariable('brand') IS NOT NULL OR getvariable('in_list') IS NOT NULL)
  AND (getvariable('brand') IS NULL OR lower(brand) = lower(getvariable('brand')::VARCHAR))
  AND (getvariable('in_list') IS NULL OR getvariable('in_list')::BOOLEAN = (product_id IN (FROM 'own_products.sql')))
