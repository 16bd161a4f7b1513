-- Find products by words and prices: one row per product and currency with a listed price. shops counts the shops with
-- trusted prices; min_price, median_price, max_price and spread_pct cover these, and grade says how far to trust them
-- (docs/concepts/spreads.md). Without trusted prices, min_price and max_price cover all prices. Spreads of grades A and
-- B come first, widest first.
SELECT * EXCLUDE (sites)
FROM (FROM 'matching_products.sql')
ORDER BY coalesce(grade < 'C', false) DESC, spread_pct DESC NULLS LAST, product_id, currency
