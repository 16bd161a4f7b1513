-- part of: price_spread and price_spread_daily
-- The figures of groups of prices, for price_spread.sql and price_spread_daily.sql. From price_groups: key, shops,
-- total, prices (in order), cheapest and dearest (price and website in one number). Prices are counted in units of
-- 0.0001 as integers, so that no amount passes through a double; only the standard deviation is computed in one, and
-- rounded.
-- (FROM 'outlier_limits.sql') is replaced by the query of that file. Quartiles: linear interpolation at (n - 1) * k /
-- 4, half away from zero; all terms are positive integers.
WITH quartiles AS (
  SELECT
    *,
    len(prices) AS n,
    prices[1] AS lowest,
    prices[n] AS highest,
    (prices[(n + 3) // 4] * (4 - (n - 1) % 4) + prices[least((n + 3) // 4 + 1, n)] * ((n - 1) % 4) + 2) // 4 AS q1,
    (prices[(n + 1) // 2] + prices[n // 2 + 1] + 1) // 2 AS q2,
    (prices[(3 * n + 1) // 4] * (4 - (3 * n - 3) % 4) + prices[least((3 * n + 1) // 4 + 1, n)] * ((3 * n - 3) % 4) + 2) // 4 AS q3,
    (2 * total + n) // (2 * n) AS average,
    round(list_aggregate(prices, 'stddev_samp') / 10000, 4)::DECIMAL(18, 4) AS deviation
  FROM price_groups
),
outlier_limits AS (FROM 'outlier_limits.sql'),
-- Groups that may have outliers, and the prices of the others.
inliers AS (
  SELECT key, kept, len(kept) AS m, list_sum(kept) AS kept_total
  FROM (
    SELECT key, [price FOR price IN prices IF
      price::HUGEINT * price <= 4 * middle_squared AND 4 * (price::HUGEINT * price) >= middle_squared
        OR abs(ln(price) - ln(middle_squared) / 2) <= log_limit
    ] AS kept
    FROM quartiles
    JOIN outlier_limits USING (key)
  )
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
  n - coalesce(m, n) AS outliers,
  (coalesce(kept[1], lowest) * 0.0001)::DECIMAL(18, 4) AS inlier_min,
  (coalesce((kept[(m + 1) // 2] + kept[m // 2 + 1] + 1) // 2, q2) * 0.0001)::DECIMAL(18, 4) AS inlier_median,
  (coalesce(kept[m], highest) * 0.0001)::DECIMAL(18, 4) AS inlier_max,
  (coalesce((2 * kept_total + m) // (2 * m), average)::BIGINT * 0.0001)::DECIMAL(18, 4) AS inlier_mean,
  100 * (coalesce(kept[m], highest) - coalesce(kept[1], lowest))::DOUBLE / coalesce(kept[1], lowest)::DOUBLE
    AS inlier_spread_pct
FROM quartiles
LEFT JOIN inliers USING (key)
