-- part of: widest_spreads, daily_spreads and spread_left_out
-- The selected price spreads, with title, brand and category of the product.
-- Variables:
-- · currency (currency): only prices in this currency
-- · brand (brand): only this brand, ignoring case
-- · min_shops (whole number; default 2): only products in this many shops or more
SELECT
  spread.*,
  products.title,
  products.brand,
  products.category_slug,
  products.category_name,
  products.category_path
FROM price_spread AS spread
LEFT JOIN products USING (product_id)
WHERE (getvariable('currency') IS NULL OR spread.currency = getvariable('currency'))
  AND (getvariable('category') IS NULL OR products.category_slug IN (FROM 'category_tree.sql'))
  AND (getvariable('brand') IS NULL OR lower(products.brand) = lower(getvariable('brand')::VARCHAR))
  AND (getvariable('in_list') IS NULL
    OR getvariable('in_list')::BOOLEAN = (spread.product_id IN (FROM 'own_products.sql')))
  AND spread.shops >= coalesce(getvariable('min_shops')::BIGINT, 2)
