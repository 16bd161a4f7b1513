-- How long shops keep their price rank: one row per lag in days. rank_correlation: Spearman's correlation of the shops'
-- prices of a product with their prices that many days later, over shops that sell it on both days, averaged over
-- products and days; pairs: number of product-days. stay_pct: the share of shops with the lowest price of a product
-- (ties count) that still have it that many days later; stay_listed_pct: the same among shops that still sell it then.
-- Only the lowest price of each shop at the end of its day counts. time_zone is the zone of the shops' days.
-- Source: Lach, Existence and Persistence of Price Dispersion, Review of Economics and Statistics 84 (2002); Baye,
-- Morgan and Scholten, Price Dispersion in the Small and in the Large, Journal of Industrial Economics 52 (2004).
-- Exact: counts and ranks; ties share the mean of their ranks. Correlations and percentages are doubles.
-- Limits: products in min_shops or more shops on both days; if all shops have the same price, there is no correlation
-- and the pair is left out (tied counts such pairs). The products setting selects the products with the lowest MD5 of
-- their id; all_products is the number without this limit. Suspect prices are left out (price_spells). Days before the
-- lake's first change lack listings that were already gone.
-- Variables:
-- · currency (currency): only prices in this currency
-- · lags (whole numbers; default 1,7,14,30,60,90): days between the two compared days
-- · days (whole number from 1; default 4): number of starting days; the last one leaves room for the longest lag
-- · step (whole number from 1; default 28): days between starting days
-- · min_shops (whole number; default 3): only products in this many shops or more
-- · products (whole number from 1; default 20000): maximum number of products to compare
WITH row_zones AS (FROM 'row_zones.sql'),
settings AS (
  SELECT
    string_split(coalesce(getvariable('lags')::VARCHAR, '1,7,14,30,60,90'), ',')::INTEGER[] AS lags,
    coalesce(getvariable('days')::INTEGER, 4) AS days,
    coalesce(getvariable('step')::INTEGER, 28) AS step,
    greatest(2, coalesce(getvariable('min_shops')::BIGINT, 3)) AS min_shops,
    last_day - list_max(lags) AS last_first_day
  FROM (SELECT seen_day - 1 AS last_day FROM (FROM 'data_clock.sql'))
),
first_days AS (
  SELECT last_first_day - step * nth::INTEGER AS first_day, lags
  FROM (SELECT unnest(range(days)) AS nth, step, last_first_day, lags FROM settings)
),
day_pairs AS (
  SELECT first_day, unnest(lags) AS lag, first_day + lag AS later_day FROM first_days
),
wanted_days AS (
  SELECT first_day AS day FROM day_pairs
  UNION
  SELECT later_day FROM day_pairs
),
spells AS (
  SELECT product_id, currency, site_id, price, from_day, to_day
  FROM price_spells
  WHERE product_id IS NOT NULL AND NOT is_suspect AND coalesce(to_day > (SELECT min(day) FROM wanted_days), true)
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (
      getvariable('category') IS NULL
      OR product_id IN (SELECT product_id FROM products WHERE category_slug IN (FROM 'category_tree.sql'))
    )
),
-- A hash chooses the same products on every machine and in every run.
compared AS MATERIALIZED (
  SELECT product_id, currency, count(*) OVER () AS all_products
  FROM spells
  GROUP BY product_id, currency
  HAVING count(DISTINCT site_id) >= (SELECT min_shops FROM settings)
  ORDER BY md5(product_id), product_id, currency
  LIMIT coalesce(getvariable('products')::BIGINT, 20000)
),
chosen AS MATERIALIZED (
  FROM spells SEMI JOIN compared USING (product_id, currency)
),
shop_prices AS (
  SELECT product_id, currency, day, site_id, min(price) AS price
  FROM chosen
  JOIN wanted_days ON from_day <= day AND (to_day IS NULL OR to_day > day)
  GROUP BY product_id, currency, day, site_id
),
-- The shops of a product on a day, with their prices, and the shops that share the lowest price.
day_prices AS MATERIALIZED (
  SELECT
    product_id,
    currency,
    day,
    [shop.site_id FOR shop IN shops] AS sites,
    [shop.price FOR shop IN shops] AS prices,
    [shop.site_id FOR shop IN shops IF shop.price = lowest] AS cheapest
  FROM (
    SELECT product_id, currency, day, list_sort(list({'site_id': site_id, 'price': price})) AS shops, min(price) AS lowest
    FROM shop_prices
    GROUP BY product_id, currency, day
  )
),
pairs AS (
  SELECT
    lag,
    one.sites = two.sites AS is_same,
    one.sites AS first_sites,
    one.prices AS first_prices,
    two.sites AS later_sites,
    two.prices AS later_prices,
    one.cheapest AS first_cheapest,
    two.cheapest AS later_cheapest
  FROM day_pairs
  JOIN day_prices AS one ON one.day = first_day
  LEFT JOIN day_prices AS two ON two.day = later_day AND two.product_id = one.product_id AND two.currency = one.currency
),
-- Prices of the shops that sell the product on both days, in the order of shops.
both_days AS (
  SELECT
    lag,
    CASE WHEN is_same THEN first_prices ELSE [first_prices[i] FOR i IN range(1, len(first_sites) + 1) IF list_contains(later_sites, first_sites[i])] END
      AS first_prices,
    CASE WHEN is_same THEN later_prices ELSE [later_prices[i] FOR i IN range(1, len(later_sites) + 1) IF list_contains(first_sites, later_sites[i])] END
      AS later_prices
  FROM pairs
  WHERE len(later_sites) > 1
),
sorted AS (
  SELECT *, list_sort(first_prices) AS first_up, list_reverse_sort(first_prices) AS first_down, list_sort(later_prices) AS later_up,
    list_reverse_sort(later_prices) AS later_down
  FROM both_days
  WHERE len(first_prices) >= (SELECT min_shops FROM settings)
),
-- Ranks minus their mean. Equal prices get the mean of the ranks that they occupy.
ranked AS (
  SELECT
    lag,
    first_up[1] < first_up[-1] AND later_up[1] < later_up[-1] AS is_told,
    [(list_position(first_up, price) - list_position(first_down, price))::DOUBLE FOR price IN first_prices] AS first_ranks,
    [(list_position(later_up, price) - list_position(later_down, price))::DOUBLE FOR price IN later_prices] AS later_ranks
  FROM sorted
),
correlated AS (
  SELECT
    lag,
    count(*) FILTER (is_told) AS pairs,
    count(*) FILTER (NOT is_told) AS tied,
    avg(list_cosine_similarity(first_ranks, later_ranks)) FILTER (is_told) AS rank_correlation
  FROM ranked
  GROUP BY lag
),
stayed AS (
  SELECT
    lag,
    sum(len(first_cheapest))::BIGINT AS lowest,
    sum(len(list_intersect(first_cheapest, coalesce(later_cheapest, []))))::BIGINT AS still_lowest,
    sum(len(list_intersect(first_cheapest, coalesce(later_sites, []))))::BIGINT AS still_listed
  FROM pairs
  WHERE len(first_sites) >= (SELECT min_shops FROM settings)
  GROUP BY lag
)
SELECT
  lag,
  coalesce(pairs, 0) AS pairs,
  coalesce(tied, 0) AS tied,
  rank_correlation,
  lowest,
  still_lowest,
  100 * still_lowest / lowest AS stay_pct,
  still_listed,
  100 * still_lowest / nullif(still_listed, 0) AS stay_listed_pct,
  (SELECT count(*) FROM compared) AS products,
  coalesce((SELECT any_value(all_products) FROM compared), 0) AS all_products,
  (SELECT time_zone FROM row_zones WHERE site_id IS NULL) AS time_zone
FROM stayed
LEFT JOIN correlated USING (lag)
ORDER BY lag
