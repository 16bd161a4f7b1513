-- How much the ranges of two shops overlap, and which shop is cheaper: the number of products that each shop and both
-- shops list now in one currency. overlap_pct: shared products in percent of all products of the two (Jaccard);
-- in_first_pct and in_second_pct: in percent of each shop's own products. cheaper, same and more_expensive: for how
-- many shared products the first shop's price is below, at or above the second's; price_level: the geometric mean of
-- first / second over them, 100 if they are equal. Only the lowest price of each shop counts.
-- Source: Jaccard, The Distribution of the Flora in the Alpine Zone, New Phytologist 11 (1912); price_level is a
-- matched-model Jevons index between shops (Consumer Price Index Manual, IMF and others, 2020). See also
-- shop_index_by_category and price_leaders.
-- Exact: counts and comparisons. Percentages and price_level are doubles.
-- Limits: listings without a product don't count, nor do offers that are not counted (offers.is_counted).
-- Variables:
-- · currency (currency): only prices in this currency
-- · min_products (whole number; default 5): only pairs with this many shared products or more
-- · site_id (site): only pairs with this shop, which comes first
-- · top (whole number; default 100): number of rows
WITH shop_prices AS (
  -- Only one offer per shop counts.
  SELECT product_id, currency, site_id, price
  FROM (FROM 'all_offers.sql')
  WHERE is_counted AND price > 0
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (
      getvariable('category') IS NULL
      OR product_id IN (SELECT product_id FROM products WHERE category_slug IN (FROM 'category_tree.sql'))
    )
),
ranges AS (
  SELECT site_id, currency, count(*) AS products FROM shop_prices GROUP BY site_id, currency
),
-- If the user asks for one shop, only its pairs are computed.
asked_prices AS (
  SELECT * FROM shop_prices WHERE getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT
),
pairs AS (
  SELECT
    first.site_id AS first_site_id,
    second.site_id AS second_site_id,
    first.currency,
    count(*) AS products,
    count(*) FILTER (first.price < second.price) AS cheaper,
    count(*) FILTER (first.price = second.price) AS same,
    count(*) FILTER (first.price > second.price) AS more_expensive,
    100 * exp(avg(ln(first.price::DOUBLE) - ln(second.price::DOUBLE))) AS price_level
  FROM asked_prices AS first
  JOIN shop_prices AS second ON second.product_id = first.product_id AND second.currency = first.currency
  WHERE
    CASE
      WHEN getvariable('site_id') IS NULL THEN second.site_id > first.site_id
      ELSE second.site_id <> first.site_id
    END
  GROUP BY ALL
  HAVING count(*) >= coalesce(getvariable('min_products')::BIGINT, 5)
)
SELECT
  first_site_id,
  first_shop.name AS first_shop,
  second_site_id,
  second_shop.name AS second_shop,
  pairs.currency,
  first_range.products AS first_products,
  second_range.products AS second_products,
  pairs.products,
  100 * pairs.products / (first_range.products + second_range.products - pairs.products) AS overlap_pct,
  100 * pairs.products / first_range.products AS in_first_pct,
  100 * pairs.products / second_range.products AS in_second_pct,
  cheaper,
  same,
  more_expensive,
  price_level,
  list_filter([first_shop.attribution, second_shop.attribution], lambda text: text IS NOT NULL) AS attribution
FROM pairs
JOIN ranges AS first_range ON first_range.site_id = first_site_id AND first_range.currency = pairs.currency
JOIN ranges AS second_range ON second_range.site_id = second_site_id AND second_range.currency = pairs.currency
LEFT JOIN sites AS first_shop ON first_shop.site_id = first_site_id AND first_shop.is_current
LEFT JOIN sites AS second_shop ON second_shop.site_id = second_site_id AND second_shop.is_current
ORDER BY pairs.products DESC, first_site_id, second_site_id, pairs.currency
LIMIT coalesce(getvariable('top')::BIGINT, 100)
