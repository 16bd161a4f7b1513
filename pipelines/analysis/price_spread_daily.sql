-- Daily price spread: how far the prices of one product lay apart at the end of each day (UTC), per currency, on days
-- with offers in two or more shops. From offer_prices (offer_prices.sql) between first_day and last_day.
-- The figures are those of price_spread.sql. They are made anew on days on which an offer of the product moves, and
-- hold until it moves again.
WITH groups AS (
  SELECT row_number() OVER (ORDER BY product_id, currency) AS group_id, product_id, currency
  FROM offer_prices
  GROUP BY product_id, currency
  HAVING min(site_id) <> max(site_id)
),
offers AS MATERIALIZED (
  SELECT
    group_id,
    site_id,
    CASE
      WHEN price < 10000000000 THEN (price * 10000)::BIGINT
      ELSE (price::DECIMAL(23, 4) * 10000)::BIGINT
    END AS units,
    from_day,
    to_day
  FROM offer_prices
  JOIN groups USING (product_id, currency)
),
moves AS (
  SELECT group_id, from_day AS day FROM offers
  UNION
  SELECT group_id, to_day FROM offers
),
spells AS (
  SELECT group_id, day, lead(day) OVER (PARTITION BY group_id ORDER BY day) AS until
  FROM moves
),
grouped AS MATERIALIZED (
  SELECT
    group_id,
    day,
    until,
    count(*) AS n,
    sum(units) AS total,
    list_sort(list(units)) AS prices,
    len(list_distinct(list(site_id)))::BIGINT AS shops,
    min(units::HUGEINT * 18446744073709551616 + site_id) AS cheapest,
    max(units::HUGEINT * 18446744073709551616 - site_id) AS dearest
  FROM spells
  JOIN offers USING (group_id)
  WHERE from_day <= day AND day < to_day
  GROUP BY group_id, day, until
  HAVING min(site_id) <> max(site_id)
),
quartiles AS (
  SELECT
    *,
    prices[1] AS lowest,
    prices[n] AS highest,
    (prices[(n + 3) // 4] * (4 - (n - 1) % 4) + prices[least((n + 3) // 4 + 1, n)] * ((n - 1) % 4) + 2) // 4 AS q1,
    (prices[(n + 1) // 2] + prices[n // 2 + 1] + 1) // 2 AS q2,
    (prices[(3 * n + 1) // 4] * (4 - (3 * n - 3) % 4) + prices[least((3 * n + 1) // 4 + 1, n)] * ((3 * n - 3) % 4) + 2) // 4 AS q3,
    (2 * total + n) // (2 * n) AS average,
    round(list_aggregate(prices, 'stddev_samp') / 10000, 4)::DECIMAL(18, 4) AS deviation
  FROM grouped
),
distances AS (
  SELECT group_id, day, n, q2, prices, list_sort([abs(price - q2) FOR price IN prices]) AS gaps
  FROM quartiles
  WHERE n >= 4
),
limits AS (
  SELECT
    *,
    CASE
      WHEN gaps[(n + 1) // 2] + gaps[n // 2 + 1] > 0
        THEN (51891 * (gaps[(n + 1) // 2] + gaps[n // 2 + 1])::HUGEINT // 20000)::BIGINT
      ELSE (438655 * list_sum(gaps)::HUGEINT // (100000 * n))::BIGINT
    END AS gap_limit
  FROM distances
),
inliers AS (
  SELECT group_id, day, kept, len(kept) AS m, list_sum(kept) AS kept_total
  FROM (
    SELECT *, [price FOR price IN prices IF abs(price - q2) <= gap_limit] AS kept
    FROM limits
    WHERE gaps[n] > gap_limit
  )
),
credited AS (
  SELECT group_id, day, list_sort(list(DISTINCT attribution)) AS attribution
  FROM spells
  JOIN (
    SELECT group_id, from_day, to_day, attribution
    FROM offers
    JOIN sites USING (site_id)
    WHERE is_current AND attribution IS NOT NULL
  ) USING (group_id)
  WHERE from_day <= day AND day < to_day
  GROUP BY group_id, day
),
figures AS (
  SELECT
    product_id,
    currency,
    day,
    until,
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
      AS inlier_spread_pct,
    coalesce(attribution, []) AS attribution
  FROM quartiles
  JOIN groups USING (group_id)
  LEFT JOIN inliers USING (group_id, day)
  LEFT JOIN credited USING (group_id, day)
  ORDER BY product_id, currency, day
)
SELECT
  (day + unnest(range(until - day))::INTEGER)::DATE AS day,
  * EXCLUDE (day, until),
  getvariable('run_id')::VARCHAR AS run_id
FROM figures
