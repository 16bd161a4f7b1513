-- How much today's prices for one product differ between shops, for products that two or more shops sell in one
-- currency. Only the lowest price of each shop counts. gap: second_lowest - lowest (0 if shops share the lowest price);
-- gap_pct: gap as a percentage of lowest; range_pct: how far highest is above lowest; cv_pct: the sample standard
-- deviation as a percentage of the mean; value_of_information: mean - lowest, the amount that a buyer saves by comparing
-- all shops instead of picking one at random; voi_pct: this amount as a percentage of the mean; lowest_share_pct: the
-- share of shops at the lowest price.
-- Source: Baye, Morgan and Scholten, Price Dispersion in the Small and in the Large, Journal of Industrial Economics 52
-- (2004), and Information, Search, and Price Dispersion, Handbook of Economics and Information Systems (2006).
-- Exact: prices and gap. Percentages, mean and value_of_information are doubles, each divided once.
-- Limits: prices are as listed, without shipping. Products that shops describe differently are not compared. Only
-- offers that count are compared (offers.is_counted).
-- Variables:
-- · currency (currency): only prices in this currency
-- · grade (A | B | C; default B): the lowest grade of the spread to show
-- · min_shops (whole number; default 2): only products in this many shops or more
-- · top (whole number; default 50): number of rows, by cv_pct
WITH shop_prices AS (
  SELECT product_id, currency, site_id, min(price) AS price
  FROM offers
  WHERE is_counted AND price > 0
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
  GROUP BY product_id, currency, site_id
),
figures AS (
  SELECT
    product_id,
    currency,
    count(*) AS shops,
    min(price) AS lowest,
    max(price) AS highest,
    sum(price) AS total,
    stddev_samp(price::DOUBLE) AS deviation
  FROM shop_prices
  GROUP BY product_id, currency
  HAVING count(*) >= greatest(2, coalesce(getvariable('min_shops')::BIGINT, 2))
),
chosen AS MATERIALIZED (
  SELECT
    figures.product_id,
    products.title,
    figures.currency,
    figures.shops,
    grade,
    lowest,
    highest,
    total,
    100 * deviation / (total::DOUBLE / figures.shops) AS cv_pct
  FROM figures
  JOIN products USING (product_id)
  JOIN (SELECT product_id, currency, grade FROM price_spread) AS graded USING (product_id, currency)
  WHERE grade <= coalesce(getvariable('grade')::VARCHAR, 'B')
    AND (getvariable('category') IS NULL OR products.category_slug IN (FROM 'category_tree.sql'))
  ORDER BY cv_pct DESC, figures.product_id, figures.currency
  LIMIT coalesce(getvariable('top')::BIGINT, 50)
),
-- Lists of prices take memory, so only chosen products get them.
chosen_prices AS MATERIALIZED (
  SELECT product_id, currency, site_id, price FROM shop_prices SEMI JOIN chosen USING (product_id, currency)
),
listed AS (
  SELECT product_id, currency, list_sort(list(price)) AS prices FROM chosen_prices GROUP BY product_id, currency
),
credited AS (
  SELECT product_id, currency, list_sort(list(DISTINCT attribution)) AS attribution
  FROM chosen_prices
  JOIN sites USING (site_id)
  WHERE is_current AND attribution IS NOT NULL
  GROUP BY product_id, currency
)
SELECT
  product_id,
  title,
  currency,
  shops,
  grade,
  lowest,
  prices[2] AS second_lowest,
  highest,
  total::DOUBLE / shops AS mean,
  cv_pct,
  100 * (highest - lowest)::DOUBLE / lowest::DOUBLE AS range_pct,
  prices[2] - lowest AS gap,
  100 * (prices[2] - lowest)::DOUBLE / lowest::DOUBLE AS gap_pct,
  (total - shops * lowest)::DOUBLE / shops AS value_of_information,
  100 * (total - shops * lowest)::DOUBLE / total::DOUBLE AS voi_pct,
  100 * len(list_filter(prices, lambda price: price = prices[1])) / shops AS lowest_share_pct,
  coalesce(attribution, []) AS attribution
FROM chosen
JOIN listed USING (product_id, currency)
LEFT JOIN credited USING (product_id, currency)
ORDER BY cv_pct DESC, product_id, currency
