-- Find products by words and prices: one row per product and currency with a listed price. shops counts the shops with
-- trusted prices; min_price, median_price, max_price and spread_pct cover these, and grade says how far to trust them
-- (docs/concepts/spreads.md). Without trusted prices, min_price and max_price cover all prices. Spreads of grades A and
-- B come first, widest first.
-- Optional variables: q (words of title, brand or part number, in any order, ignoring case and accents; or a GTIN in
-- any form; up to eight words) · currency · category (slug or path; includes subcategories) · brand (ignoring case) ·
-- site_id (sold by this shop) · grade (B; the lowest grade, which excludes products without one) · min_shops · in_stock
-- (true: a shop says that it has it; false: no shop does) · min_price · max_price · product (product_id)
SELECT *
FROM (FROM 'matching_products.sql')
ORDER BY coalesce(grade < 'C', false) DESC, spread_pct DESC NULLS LAST, product_id, currency
