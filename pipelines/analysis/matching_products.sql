-- part of: find_products and product_facets
-- The products that match the variables of find_products, in any order.
-- Variables:
-- · q (text): words of title, brand or part number, in any order, ignoring case and accents; or a GTIN in any form;
--   up to eight words
-- · currency (currency): only prices in this currency
-- · brand (brand): only this brand, ignoring case
-- · site_id (site): sold by this shop
-- · grade (A | B | C): the lowest grade, which excludes products without one
-- · min_shops (whole number): only products in this many shops or more
-- · in_stock (true or false): true if a shop has it in stock, false if no shop does
-- · min_price (number): with a price of this or more
-- · max_price (number): with a price of this or less
-- · product (product): only this product
SELECT cards.* EXCLUDE (words), coalesce(sites.name, cheapest_site_id::VARCHAR) AS cheapest_shop
FROM (FROM 'product_cards.sql') AS cards
LEFT JOIN sites ON sites.site_id = cheapest_site_id AND sites.is_current
WHERE (getvariable('product') IS NULL OR product_id = getvariable('product'))
  AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
  AND (getvariable('brand') IS NULL OR lower(brand) = lower(getvariable('brand')))
  AND (getvariable('grade') IS NULL OR grade <= getvariable('grade'))
  AND (getvariable('min_shops') IS NULL OR shops >= getvariable('min_shops')::BIGINT)
  AND (getvariable('in_stock') IS NULL OR getvariable('in_stock')::BOOLEAN = (in_stock_shops > 0))
  AND (getvariable('min_price') IS NULL OR max_price >= getvariable('min_price')::DECIMAL(18, 4))
  AND (getvariable('max_price') IS NULL OR min_price <= getvariable('max_price')::DECIMAL(18, 4))
  AND (getvariable('category') IS NULL OR category_slug IN (FROM 'category_tree.sql'))
  AND (getvariable('site_id') IS NULL OR list_contains(sites, getvariable('site_id')::BIGINT))
  AND (getvariable('in_list') IS NULL OR getvariable('in_list')::BOOLEAN = (product_id IN (FROM 'own_products.sql')))
  -- A GTIN matches with any number of leading zeros, and any other word matches anywhere. The words are written as
  -- constants, so that DuckDB computes them before it reads rows.
  AND (
    getvariable('q') IS NULL
    OR (
      (contains(words, coalesce(regexp_extract_all(strip_accents(lower(getvariable('q')::VARCHAR)), '\S+')[1], ''))
        OR product_id = ltrim(coalesce(regexp_extract_all(strip_accents(lower(getvariable('q')::VARCHAR)), '\S+')[1], ''), '0'))
      AND contains(words, coalesce(regexp_extract_all(strip_accents(lower(getvariable('q')::VARCHAR)), '\S+')[2], ''))
      AND contains(words, coalesce(regexp_extract_all(strip_accents(lower(getvariable('q')::VARCHAR)), '\S+')[3], ''))
      AND contains(words, coalesce(regexp_extract_all(strip_accents(lower(getvariable('q')::VARCHAR)), '\S+')[4], ''))
      AND contains(words, coalesce(regexp_extract_all(strip_accents(lower(getvariable('q')::VARCHAR)), '\S+')[5], ''))
      AND contains(words, coalesce(regexp_extract_all(strip_accents(lower(getvariable('q')::VARCHAR)), '\S+')[6], ''))
      AND contains(words, coalesce(regexp_extract_all(strip_accents(lower(getvariable('q')::VARCHAR)), '\S+')[7], ''))
      AND contains(words, coalesce(regexp_extract_all(strip_accents(lower(getvariable('q')::VARCHAR)), '\S+')[8], ''))
    )
  )
