-- part of: price_spread and price_spread_daily
-- Figures of groups of prices, and the grade of the prices that count. Reads priced: key, site_id, price, is_counted
-- (at most one price per shop), findings, doubt and is_strange (spread_grades.sql). Prices are counted in units of
-- 0.0001 as integers, so that no amount passes through a double; only the standard deviation is computed as a double,
-- and rounded. A group needs two shops. (FROM '….sql') is replaced by the query in that file. Quartiles use linear
-- interpolation at (n - 1) * k / 4, rounded half away from zero; all terms are positive integers.
WITH exact_prices AS (
  SELECT *, (price::DECIMAL(23, 4) * 10000)::BIGINT AS units FROM priced
),
price_groups AS MATERIALIZED (
  SELECT
    key,
    sum(units) AS total,
    list_sort(list(units)) AS prices,
    len(list_distinct(list(site_id)))::BIGINT AS shops,
    -- Combines price and site in one sortable number. If prices are equal, the lowest site id is chosen for both the
    -- lowest and the highest price.
    min(units::HUGEINT * 18446744073709551616 + site_id) AS cheapest,
    max(units::HUGEINT * 18446744073709551616 - site_id) AS dearest,
    coalesce(list_sort(list(units) FILTER (is_counted)), []) AS trusted,
    min(units::HUGEINT * 18446744073709551616 + site_id) FILTER (is_counted) AS trusted_cheapest,
    max(units::HUGEINT * 18446744073709551616 - site_id) FILTER (is_counted) AS trusted_dearest,
    list(findings) FILTER (NOT is_counted) AS left_out_for,
    min(doubt) AS doubt,
    min(doubt) FILTER (is_strange) AS strange_doubt
  FROM exact_prices
  GROUP BY key
  HAVING min(site_id) <> max(site_id)
),
spread_grades AS (FROM 'spread_grades.sql'),
figures AS (
  SELECT
    *,
    len(prices) AS n,
    prices[1] AS lowest,
    prices[n] AS highest,
    (prices[(n + 3) // 4] * (4 - (n - 1) % 4) + prices[least((n + 3) // 4 + 1, n)] * ((n - 1) % 4) + 2) // 4 AS q1,
    (prices[(n + 1) // 2] + prices[n // 2 + 1] + 1) // 2 AS q2,
    (prices[(3 * n + 1) // 4] * (4 - (3 * n - 3) % 4) + prices[least((3 * n + 1) // 4 + 1, n)] * ((3 * n - 3) % 4) + 2) // 4 AS q3,
    (2 * total + n) // (2 * n) AS average,
    (round(list_aggregate(prices, 'stddev_samp'))::BIGINT * 0.0001)::DECIMAL(18, 4) AS deviation,
    len(trusted) AS m,
    m > 1 AS is_trusted
  FROM price_groups
)
SELECT
  key,
  n AS offers,
  shops,
  (lowest * 0.0001)::DECIMAL(18, 4) AS "min",
  (q1 * 0.0001)::DECIMAL(18, 4) AS p25,
  (q2 * 0.0001)::DECIMAL(18, 4) AS median,
  (q3 * 0.0001)::DECIMAL(18, 4) AS p75,
  (highest * 0.0001)::DECIMAL(18, 4) AS "max",
  (average::BIGINT * 0.0001)::DECIMAL(18, 4) AS mean,
  deviation AS stddev,
  ((highest - lowest) * 0.0001)::DECIMAL(18, 4) AS spread,
  100 * (highest - lowest)::DOUBLE / lowest::DOUBLE AS spread_pct,
  (cheapest - lowest::HUGEINT * 18446744073709551616)::BIGINT AS cheapest_site_id,
  (highest::HUGEINT * 18446744073709551616 - dearest)::BIGINT AS dearest_site_id,
  grade,
  grade_reason,
  n - m AS left_out,
  m AS trusted_shops,
  CASE WHEN is_trusted THEN (trusted[1] * 0.0001)::DECIMAL(18, 4) END AS trusted_min,
  CASE WHEN is_trusted THEN (((trusted[(m + 1) // 2] + trusted[m // 2 + 1] + 1) // 2) * 0.0001)::DECIMAL(18, 4) END AS trusted_median,
  CASE WHEN is_trusted THEN (trusted[m] * 0.0001)::DECIMAL(18, 4) END AS trusted_max,
  CASE WHEN is_trusted THEN 100 * (trusted[m] - trusted[1])::DOUBLE / trusted[1]::DOUBLE END AS trusted_spread_pct,
  CASE WHEN is_trusted THEN (trusted_cheapest - trusted[1]::HUGEINT * 18446744073709551616)::BIGINT END AS trusted_cheapest_site_id,
  CASE WHEN is_trusted THEN (trusted[m]::HUGEINT * 18446744073709551616 - trusted_dearest)::BIGINT END AS trusted_dearest_site_id
FROM figures
JOIN spread_grades USING (key)
