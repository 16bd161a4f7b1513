-- Made by generate.py from pipelines/analysis/shop_overlap.sql: change that one. Source 8fd60e52c4a37d2d.
-- step: shop_overlap__shop_prices, kept
SELECT
  product_id,
  currency,
  site_id,
  MIN(price) AS price
FROM offers
WHERE
  is_counted
  AND price > 0
  AND (
    :currency IS NULL OR currency = :currency
  )
  AND (
    :category IS NULL
    OR product_id IN (
      SELECT
        product_id
      FROM products
      WHERE
        category_slug = :category
    )
  )
GROUP BY
  product_id,
  currency,
  site_id;
-- step: shop_overlap__ranges, kept
SELECT
  site_id,
  currency,
  COUNT(*) AS products
FROM shop_overlap__shop_prices AS shop_prices
GROUP BY
  site_id,
  currency;
-- step: shop_overlap__pairs
SELECT
  one.site_id AS first_site_id,
  two.site_id AS second_site_id,
  one.currency,
  COUNT(*) AS products,
  COUNT(*) FILTER(WHERE
    one.price < two.price) AS cheaper,
  COUNT(*) FILTER(WHERE
    one.price = two.price) AS same,
  COUNT(*) FILTER(WHERE
    one.price > two.price) AS more_expensive,
  100 * EXP(AVG(LN(CAST(one.price AS DOUBLE)) - LN(CAST(two.price AS DOUBLE)))) AS price_level
FROM shop_overlap__shop_prices AS one
JOIN shop_overlap__shop_prices AS two
  ON two.product_id = one.product_id
  AND two.currency = one.currency
  AND two.site_id > one.site_id
GROUP BY ALL
HAVING
  COUNT(*) >= COALESCE(CAST(:min_products AS BIGINT), 5);
-- step: shop_overlap
SELECT
  first_site_id,
  first_shop.name AS first_shop,
  second_site_id,
  second_shop.name AS second_shop,
  pairs.currency,
  first_range.products AS first_products,
  second_range.products AS second_products,
  pairs.products,
  100 * pairs.products / (
    first_range.products + second_range.products - pairs.products
  ) AS overlap_pct,
  100 * pairs.products / first_range.products AS in_first_pct,
  100 * pairs.products / second_range.products AS in_second_pct,
  cheaper,
  same,
  more_expensive,
  price_level,
  FILTER(ARRAY(first_shop.attribution, second_shop.attribution), text -> NOT text IS NULL) AS attribution
FROM shop_overlap__pairs AS pairs
JOIN shop_overlap__ranges AS first_range
  ON first_range.site_id = first_site_id AND first_range.currency = pairs.currency
JOIN shop_overlap__ranges AS second_range
  ON second_range.site_id = second_site_id AND second_range.currency = pairs.currency
LEFT JOIN sites AS first_shop
  ON first_shop.site_id = first_site_id AND first_shop.is_current
LEFT JOIN sites AS second_shop
  ON second_shop.site_id = second_site_id AND second_shop.is_current
WHERE
  :site_id IS NULL OR CAST(:site_id AS BIGINT) IN (first_site_id, second_site_id)
ORDER BY
  pairs.products DESC,
  first_site_id NULLS LAST,
  second_site_id NULLS LAST,
  pairs.currency NULLS LAST
LIMIT CAST(COALESCE(CAST(:top AS BIGINT), 100) AS INT);
