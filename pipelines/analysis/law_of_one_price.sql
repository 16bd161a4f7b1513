-- Whether a product costs the same in shops with different currencies, at exchange rates that you provide: one row per
-- pair of currencies, from end-of-week prices. Only the lowest price in each currency counts. gap is 100 * ln(first
-- price in base / second price in base). median_gap is its median, mean_abs_gap its mean size, and law_pct the share of
-- gaps of at most 1. persistence: how much of a gap remains a week later (least squares with a mean for each product),
-- and half_life_weeks, ln(0.5) / ln(persistence). pass_through: how much of an exchange-rate change shows up in relative
-- local prices within pass_weeks weeks; 1 means all of it. Its standard error counts each of the pass_windows once,
-- because all products share a rate. Compare pass_through / pass_through_error with Student's t distribution for
-- pass_windows - 2 degrees of freedom.
-- Source: Gorodnichenko and Talavera, Price Setting in Online Markets: Basic Facts, International Comparisons, and
-- Cross-Border Integration, American Economic Review 107 (2017); Cavallo, Neiman and Rigobon, Currency Unions, Product
-- Introductions, and the Real Exchange Rate, Quarterly Journal of Economics 129 (2014).
-- Exact: counts. Everything else is a double; logs of prices and rates are never rounded in between.
-- Limits: with few weeks, the estimate of persistence is too low (Nickell 1981). Rates are those of your file, the
-- newest up to each week's end; if rates don't move, there is no pass_through. Taxes and shipping differ between
-- countries. Suspect prices are left out (price_spells). The products setting selects the products with the lowest MD5
-- of their id. all_products: number of products in two or more currencies. time_zone is the zone in which the shops'
-- Sundays end.
-- In plain DuckDB, first: CREATE TEMP TABLE rates AS SELECT date::DATE AS date, currency, rate::DECIMAL(28, 10) AS rate
-- FROM 'rates.csv'; SET VARIABLE base = 'EUR'. With pricelake: query --analysis law_of_one_price --fx rates.csv
-- --fx-base EUR
-- Variables:
-- · base (currency; required): the base currency of the rates
-- · weeks (whole number from 1; default 26): number of weeks
-- · pass_weeks (whole number from 1; default 4): number of weeks within which a rate change may reach prices
-- · min_products (whole number; default 5): only pairs of currencies with this many products or more
-- · products (whole number from 1; default 20000): maximum number of products to compare
WITH row_zones AS (FROM 'row_zones.sql'),
span AS (
  SELECT
    last_day,
    (last_day - DATE '1970-01-05')::BIGINT // 7 AS end_week,
    coalesce(getvariable('weeks')::BIGINT, 26) AS weeks,
    coalesce(getvariable('pass_weeks')::BIGINT, 4) AS pass_weeks
  FROM (SELECT seen_day AS last_day FROM (FROM 'data_clock.sql'))
),
-- The Sundays whose day is over.
sundays AS (
  SELECT week, DATE '1970-01-11' + (7 * week)::INTEGER AS day
  FROM (SELECT unnest(range(end_week - weeks, end_week)) AS week FROM span)
),
week_rates AS (
  SELECT week, currency, ln(arg_max(rate, date)::DOUBLE) AS log_rate
  FROM sundays
  JOIN rates ON date <= day
  WHERE currency <> getvariable('base')
  GROUP BY week, currency
  UNION ALL
  SELECT week, getvariable('base')::VARCHAR, 0 FROM sundays
),
-- Products with prices at the ends of weeks in two or more currencies that have rates.
spells AS MATERIALIZED (
  SELECT
    product_id, currency, price,
    (from_day - DATE '1970-01-05')::BIGINT // 7 AS first_week,
    coalesce((to_day - DATE '1970-01-05')::BIGINT // 7, end_week) AS last_week
  FROM price_spells, span
  WHERE product_id IS NOT NULL AND NOT is_suspect
    AND coalesce((to_day - DATE '1970-01-05')::BIGINT // 7 > end_week - weeks, true)
    AND currency IN (SELECT currency FROM week_rates)
    AND (
      getvariable('category') IS NULL
      OR product_id IN (SELECT product_id FROM products WHERE category_slug IN (FROM 'category_tree.sql'))
    )
),
-- A hash chooses the same products on every machine and in every run.
compared AS MATERIALIZED (
  SELECT product_id, count(*) OVER () AS all_products
  FROM spells
  GROUP BY product_id
  HAVING min(currency) <> max(currency)
  ORDER BY md5(product_id), product_id
  LIMIT coalesce(getvariable('products')::BIGINT, 20000)
),
weekly AS (
  SELECT product_id, currency, unnest(range(greatest(first_week, end_week - weeks), least(last_week, end_week))) AS week, price
  FROM spells
  SEMI JOIN compared USING (product_id)
  CROSS JOIN span
),
local_prices AS MATERIALIZED (
  SELECT product_id, currency, week, ln(price::DOUBLE) AS log_price, log_rate
  FROM (SELECT product_id, currency, week, min(price) AS price FROM weekly GROUP BY product_id, currency, week)
  JOIN week_rates USING (week, currency)
),
gaps AS MATERIALIZED (
  SELECT
    one.currency AS first_currency,
    two.currency AS second_currency,
    product_id,
    week,
    one.log_price - two.log_price AS local_gap,
    one.log_rate - two.log_rate AS rate_gap,
    one.log_price - one.log_rate - two.log_price + two.log_rate AS gap
  FROM local_prices AS one
  JOIN local_prices AS two USING (product_id, week)
  WHERE one.currency < two.currency
),
figures AS (
  SELECT
    first_currency,
    second_currency,
    count(DISTINCT product_id) AS products,
    count(*) AS gaps,
    100 * median(gap) AS median_gap,
    100 * avg(abs(gap)) AS mean_abs_gap,
    100 * count(*) FILTER (abs(gap) <= 0.01) / count(*) AS law_pct
  FROM gaps
  GROUP BY ALL
  HAVING count(DISTINCT product_id) >= coalesce(getvariable('min_products')::BIGINT, 5)
),
-- Each gap and the gap a week before, both minus the product's mean.
steps AS (
  SELECT
    now.first_currency, now.second_currency,
    now.gap - avg(now.gap) OVER product AS gap,
    before.gap - avg(before.gap) OVER product AS gap_before
  FROM (SELECT *, week - 1 AS week_before FROM gaps) AS now
  JOIN gaps AS before
    ON before.first_currency = now.first_currency AND before.second_currency = now.second_currency
    AND before.product_id = now.product_id AND before.week = now.week_before
  WINDOW product AS (PARTITION BY now.first_currency, now.second_currency, now.product_id)
),
persistences AS (
  SELECT first_currency, second_currency, count(*) AS steps, sum(gap * gap_before) / nullif(sum(gap_before * gap_before), 0) AS persistence
  FROM steps
  GROUP BY ALL
),
-- An exchange rate moves all products alike, and overlapping windows share its moves. So one observation is the mean of
-- all products in one window, and the windows are consecutive, starting from the last week.
moves AS (
  SELECT
    now.first_currency, now.second_currency, now.week,
    count(*) AS products,
    avg(now.local_gap - before.local_gap) AS price_move,
    any_value(now.rate_gap - before.rate_gap) AS rate_move
  FROM (
    SELECT gaps.*, week - pass_weeks AS week_before FROM gaps, span WHERE (end_week - 1 - week) % pass_weeks = 0
  ) AS now
  JOIN gaps AS before
    ON before.first_currency = now.first_currency AND before.second_currency = now.second_currency
    AND before.product_id = now.product_id AND before.week = now.week_before
  GROUP BY now.first_currency, now.second_currency, now.week
),
passes AS (
  SELECT
    first_currency, second_currency,
    sum(products)::BIGINT AS moves,
    count(*) AS pass_windows,
    regr_slope(price_move, rate_move) AS pass_through,
    -- Standard error of a slope with one regressor and an intercept.
    sqrt(greatest(regr_syy(price_move, rate_move) - regr_slope(price_move, rate_move) * regr_sxy(price_move, rate_move), 0)
      / (nullif(count(*) - 2, 0) * nullif(regr_sxx(price_move, rate_move), 0))) AS pass_through_error
  FROM moves
  GROUP BY first_currency, second_currency
  HAVING var_pop(rate_move) > 1e-12
)
SELECT
  figures.*,
  steps,
  persistence,
  CASE WHEN persistence > 0 AND persistence < 1 THEN ln(0.5) / ln(persistence) END AS half_life_weeks,
  moves,
  pass_windows,
  pass_through,
  CASE WHEN pass_windows > 2 THEN pass_through_error END AS pass_through_error,
  (SELECT any_value(all_products) FROM compared) AS all_products,
  (SELECT time_zone FROM row_zones WHERE site_id IS NULL) AS time_zone
FROM figures
LEFT JOIN persistences USING (first_currency, second_currency)
LEFT JOIN passes USING (first_currency, second_currency)
ORDER BY gaps DESC, first_currency, second_currency
