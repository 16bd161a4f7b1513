-- part of: find_products
-- One row for each product and currency in which it is listed with a price, with the values to search and sort by.
-- words has the title, brand, part number and product_id in lowercase without accents. min_price to max_price cover the
-- trusted prices, or all prices if too few can be trusted. in_stock_shops and delivered_min cover offers that count;
-- sites has all shops that list the product, in any currency.
SELECT
  prices.product_id,
  prices.currency,
  title,
  brand,
  mpn,
  category_slug,
  category_name,
  category_path,
  prices.offers,
  coalesce(trusted_shops, spread.shops, 1) AS shops,
  coalesce(trusted_min, prices."min") AS min_price,
  trusted_median AS median_price,
  coalesce(trusted_max, prices."max") AS max_price,
  trusted_spread_pct AS spread_pct,
  grade,
  grade_reason,
  coalesce(left_out, 0) AS left_out,
  trusted_cheapest_site_id AS cheapest_site_id,
  coalesce(in_stock_shops, 0) AS in_stock_shops,
  delivered_min,
  spread.attribution,
  sites,
  strip_accents(lower(concat_ws(' ', title, brand, mpn, prices.product_id, replace(mpn, '-', '')))) AS words
FROM product_prices AS prices
JOIN products USING (product_id)
LEFT JOIN price_spread AS spread USING (product_id, currency)
LEFT JOIN (
  SELECT
    product_id,
    currency,
    count(DISTINCT site_id) FILTER (availability = 'in stock') AS in_stock_shops,
    min(delivered_price) AS delivered_min
  FROM (FROM 'all_offers.sql')
  WHERE is_counted AND (availability IS NOT NULL OR delivered_price IS NOT NULL)
  GROUP BY product_id, currency
) AS delivery USING (product_id, currency)
LEFT JOIN (
  SELECT product_id, list(DISTINCT site_id) AS sites FROM items WHERE is_listed AND price IS NOT NULL AND currency IS NOT NULL GROUP BY product_id
) AS sold USING (product_id)
