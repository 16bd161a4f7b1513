-- Whether shops keep their place: a row a lag in days. rank_correlation: Spearman's correlation of the shops' prices of a
-- product with their prices so many days later, over shops that sell it on both days, averaged over products and days; pairs
-- is their number. stay_pct: of the shops with the lowest price of a product (ties count), the share that has it so many
-- days later as well; stay_listed_pct: the same of those that sell it then. One price a shop counts, its lowest at
-- the end of the day (UTC).
-- Source: Lach, Existence and Persistence of Price Dispersion, Review of Economics and Statistics 84 (2002); Baye, Morgan and
-- Scholten, Price Dispersion in the Small and in the Large, Journal of Industrial Economics 52 (2004).
-- Exact: counts and ranks; ties share the mean of their ranks. Correlations and percentages are doubles.
-- Limits: products in min_shops or more shops on both days; where all shops ask one price, no correlation exists and the pair
-- is left out (tied tells how many). Days before the lake's first change miss listings that were gone by then.
-- Optional variables: currency · category (slug) · lags (1,7,14,30,60,90: days) · days (4: so many first
-- days, every step (28) days back from the last one that leaves room for the longest lag) · step · min_shops (3)
WITH settings AS (
  SELECT
    string_split(coalesce(getvariable('lags')::VARCHAR, '1,7,14,30,60,90'), ',')::INTEGER[] AS lags,
    coalesce(getvariable('days')::INTEGER, 4) AS days,
    coalesce(getvariable('step')::INTEGER, 28) AS step,
    greatest(2, coalesce(getvariable('min_shops')::BIGINT, 3)) AS min_shops,
    last_day - list_max(lags) AS last_first_day
  FROM (SELECT DATE '1970-01-01' + (epoch_us(max(last_seen_at)) // 86400000000)::INTEGER - 1 AS last_day FROM items)
),
first_days AS (
  SELECT last_first_day - step * unnest(range(days))::INTEGER AS first_day, lags FROM settings
),
day_pairs AS (
  SELECT first_day, unnest(lags) AS lag, first_day + lag AS later_day FROM first_days
),
wanted_days AS (
  SELECT first_day AS day FROM day_pairs
  UNION
  SELECT later_day FROM day_pairs
),
spells AS MATERIALIZED (
  SELECT product_id, currency, site_id, price, from_day, to_day
  FROM price_spells
  WHERE product_id IS NOT NULL AND (to_day IS NULL OR to_day > (SELECT min(day) FROM wanted_days))
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (
      getvariable('category') IS NULL
      OR product_id IN (SELECT product_id FROM products WHERE category_slug = getvariable('category'))
    )
),
compared AS (
  SELECT product_id, currency
  FROM spells
  GROUP BY product_id, currency
  HAVING count(DISTINCT site_id) >= (SELECT min_shops FROM settings)
),
shop_prices AS MATERIALIZED (
  SELECT product_id, currency, day, site_id, min(price) AS price
  FROM spells
  SEMI JOIN compared USING (product_id, currency)
  JOIN wanted_days ON from_day <= day AND (to_day IS NULL OR to_day > day)
  GROUP BY product_id, currency, day, site_id
),
placed AS MATERIALIZED (
  SELECT
    *,
    price = min(price) OVER at_day AS is_lowest,
    count(*) OVER at_day AS shops
  FROM shop_prices
  WINDOW at_day AS (PARTITION BY product_id, currency, day)
),
both_days AS (
  SELECT lag, first_day, one.product_id, one.currency, one.price AS first_price, two.price AS later_price
  FROM day_pairs
  JOIN placed AS one ON one.day = first_day
  JOIN placed AS two
    ON two.day = later_day AND two.product_id = one.product_id AND two.currency = one.currency AND two.site_id = one.site_id
  QUALIFY count(*) OVER (PARTITION BY lag, first_day, one.product_id, one.currency) >= (SELECT min_shops FROM settings)
),
ranked AS (
  SELECT
    lag, first_day, product_id, currency,
    rank() OVER (PARTITION BY lag, first_day, product_id, currency ORDER BY first_price)
      + (count(*) OVER (PARTITION BY lag, first_day, product_id, currency, first_price) - 1) / 2 AS first_rank,
    rank() OVER (PARTITION BY lag, first_day, product_id, currency ORDER BY later_price)
      + (count(*) OVER (PARTITION BY lag, first_day, product_id, currency, later_price) - 1) / 2 AS later_rank
  FROM both_days
),
correlated AS (
  SELECT lag, count(correlation) AS pairs, count(*) - count(correlation) AS tied, avg(correlation) AS rank_correlation
  FROM (
    SELECT
      lag,
      CASE
        WHEN min(first_rank) < max(first_rank) AND min(later_rank) < max(later_rank) THEN corr(first_rank, later_rank)
      END AS correlation
    FROM ranked
    GROUP BY lag, first_day, product_id, currency
  )
  GROUP BY lag
),
stayed AS (
  SELECT
    lag,
    count(*) AS lowest,
    count(*) FILTER (two.is_lowest) AS still_lowest,
    count(*) FILTER (two.site_id IS NOT NULL) AS still_listed
  FROM day_pairs
  JOIN placed AS one ON one.day = first_day AND one.is_lowest AND one.shops >= (SELECT min_shops FROM settings)
  LEFT JOIN placed AS two
    ON two.day = later_day AND two.product_id = one.product_id AND two.currency = one.currency AND two.site_id = one.site_id
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
  100 * still_lowest / nullif(still_listed, 0) AS stay_listed_pct
FROM stayed
LEFT JOIN correlated USING (lag)
ORDER BY lag
