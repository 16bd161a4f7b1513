-- Made by generate.py from pipelines/analysis/price_spread_daily.sql: change that one. Source 848bdd594f3b63a4.
-- columns: day DATE, product_id STRING, currency STRING, offers BIGINT, shops BIGINT, min DECIMAL(18,4), p25 DECIMAL(18,4), median DECIMAL(18,4), p75 DECIMAL(18,4), max DECIMAL(18,4), mean DECIMAL(18,4), stddev DECIMAL(18,4), spread DECIMAL(18,4), spread_pct DOUBLE, cheapest_site_id BIGINT, dearest_site_id BIGINT, outliers BIGINT, inlier_min DECIMAL(18,4), inlier_median DECIMAL(18,4), inlier_max DECIMAL(18,4), inlier_mean DECIMAL(18,4), inlier_spread_pct DOUBLE, attribution ARRAY<STRING>, run_id STRING
-- step: price_spread_daily__groups, kept
SELECT
  NAMED_STRUCT('product_id', product_id, 'currency', currency) AS group_id,
  product_id,
  currency
FROM offer_prices
GROUP BY
  product_id,
  currency
HAVING
  MIN(site_id) <> MAX(site_id);
-- step: price_spread_daily__priced
SELECT
  group_id,
  site_id,
  price,
  from_day,
  to_day
FROM offer_prices
JOIN price_spread_daily__groups AS groups
  USING (product_id, currency);
-- step: price_spread_daily__exact_prices, kept
SELECT
  group_id,
  site_id,
  price,
  from_day,
  to_day,
  CASE
    WHEN ABS(price) < 10000000000
    THEN CAST((
      price * 10000
    ) AS BIGINT)
    ELSE CAST((
      CAST(price AS DECIMAL(23, 4)) * 10000
    ) AS BIGINT)
  END AS units
FROM price_spread_daily__priced AS priced;
-- step: price_spread_daily__moves
SELECT
  group_id,
  from_day AS day
FROM price_spread_daily__exact_prices AS exact_prices
UNION
SELECT
  group_id,
  to_day
FROM price_spread_daily__exact_prices AS exact_prices;
-- step: price_spread_daily__spells, kept
SELECT
  group_id,
  day,
  LEAD(day) OVER (PARTITION BY group_id ORDER BY day NULLS LAST) AS until
FROM price_spread_daily__moves AS moves;
-- step: price_spread_daily__price_groups, kept
SELECT
  NAMED_STRUCT('group_id', group_id, 'day', day, 'until', until) AS key,
  group_id,
  day,
  until,
  SUM(CAST(units AS DECIMAL(38, 0))) AS total,
  ARRAY_SORT(COLLECT_LIST(units)) AS prices,
  CAST(ARRAY_SIZE(ARRAY_DISTINCT(COLLECT_LIST(site_id))) AS BIGINT) AS shops,
  MIN(CAST(units AS DECIMAL(38, 0)) * 18446744073709551616 + site_id) AS cheapest,
  MAX(CAST(units AS DECIMAL(38, 0)) * 18446744073709551616 - site_id) AS dearest
FROM price_spread_daily__spells AS spells
JOIN price_spread_daily__exact_prices AS exact_prices
  USING (group_id)
WHERE
  from_day <= day AND day < to_day
GROUP BY
  group_id,
  day,
  until
HAVING
  MIN(site_id) <> MAX(site_id);
-- step: price_spread_daily__quartiles, kept
SELECT
  key,
  group_id,
  day,
  until,
  total,
  prices,
  shops,
  cheapest,
  dearest,
  ARRAY_SIZE(prices) AS n,
  GET(prices, 0) AS lowest,
  GET(prices, n - 1) AS highest,
  (
    GET(prices, (
      (
        n + 3
      ) DIV 4
    ) - 1) * (
      4 - (
        n - 1
      ) % 4
    ) + GET(prices, (
      LEAST((
        n + 3
      ) DIV 4 + 1, n)
    ) - 1) * (
      (
        n - 1
      ) % 4
    ) + 2
  ) DIV 4 AS q1,
  (
    GET(prices, (
      (
        n + 1
      ) DIV 2
    ) - 1) + GET(prices, (
      n DIV 2 + 1
    ) - 1) + 1
  ) DIV 2 AS q2,
  (
    GET(prices, (
      (
        3 * n + 1
      ) DIV 4
    ) - 1) * (
      4 - (
        3 * n - 3
      ) % 4
    ) + GET(prices, (
      LEAST((
        3 * n + 1
      ) DIV 4 + 1, n)
    ) - 1) * (
      (
        3 * n - 3
      ) % 4
    ) + 2
  ) DIV 4 AS q3,
  CAST((
    (
      2 * total + n
    ) - (
      2 * total + n
    ) % (
      2 * n
    )
  ) / (
    2 * n
  ) AS DECIMAL(38, 0)) AS average,
  CAST(GET(
    TRANSFORM(
      ARRAY(
        (
          CASE
            WHEN ARRAY_SIZE(prices) > 1
            THEN AGGREGATE(
              prices,
              NAMED_STRUCT('n', CAST(0 AS DOUBLE), 'mean', CAST(0 AS DOUBLE), 'squares', CAST(0 AS DOUBLE)),
              (s, x) -> NAMED_STRUCT(
                'n',
                s.n + CAST(1 AS DOUBLE),
                'mean',
                s.mean + (
                  CAST(x AS DOUBLE) - s.mean
                ) / (
                  s.n + CAST(1 AS DOUBLE)
                ),
                'squares',
                s.squares + (
                  CAST(x AS DOUBLE) - (
                    s.mean + (
                      CAST(x AS DOUBLE) - s.mean
                    ) / (
                      s.n + CAST(1 AS DOUBLE)
                    )
                  )
                ) * (
                  CAST(x AS DOUBLE) - s.mean
                )
              ),
              s -> SQRT(s.squares / (
                s.n - CAST(1 AS DOUBLE)
              ))
            )
          END / 10000
        ) * 10000
      ),
      one -> CASE WHEN one - FLOOR(one) >= CAST(0.5 AS DOUBLE) THEN CEIL(one) ELSE FLOOR(one) END
    ),
    0
  ) * 0.0001 AS DECIMAL(18, 4)) AS deviation
FROM price_spread_daily__price_groups AS price_groups;
-- step: price_spread_daily__middles
SELECT
  key,
  prices,
  ARRAY_SIZE(prices) AS n,
  CAST(GET(prices, (
    (
      n + 1
    ) DIV 2
  ) - 1) AS DECIMAL(38, 0)) * GET(prices, (
    n DIV 2 + 1
  ) - 1) AS middle_squared
FROM price_spread_daily__price_groups AS price_groups
WHERE
  ARRAY_SIZE(prices) >= 4;
-- step: price_spread_daily__distances
SELECT
  key,
  n,
  middle_squared,
  ARRAY_SORT(TRANSFORM(prices, price -> ABS(LN(price) - LN(middle_squared) / 2))) AS gaps
FROM price_spread_daily__middles AS middles
WHERE
  CAST(GET(prices, n - 1) AS DECIMAL(38, 0)) * GET(prices, n - 1) > 4 * middle_squared
  OR 4 * (
    CAST(GET(prices, 0) AS DECIMAL(38, 0)) * GET(prices, 0)
  ) < middle_squared;
-- step: price_spread_daily__outlier_limits
SELECT
  key,
  middle_squared,
  3.5 * 1.4826 * (
    GET(gaps, (
      (
        n + 1
      ) DIV 2
    ) - 1) + GET(gaps, (
      n DIV 2 + 1
    ) - 1)
  ) / 2 AS log_limit
FROM price_spread_daily__distances AS distances;
-- step: price_spread_daily__inliers
SELECT
  key,
  kept,
  ARRAY_SIZE(kept) AS m,
  AGGREGATE(kept, CAST(0 AS DECIMAL(38, 0)), (s, x) -> CAST(s + x AS DECIMAL(38, 0))) AS kept_total
FROM (
  SELECT
    key,
    FILTER(
      prices,
      price -> CAST(price AS DECIMAL(38, 0)) * price <= 4 * middle_squared
      AND 4 * (
        CAST(price AS DECIMAL(38, 0)) * price
      ) >= middle_squared
      OR ABS(LN(price) - LN(middle_squared) / 2) <= log_limit
    ) AS kept
  FROM price_spread_daily__quartiles AS quartiles
  JOIN price_spread_daily__outlier_limits AS outlier_limits
    USING (key)
);
-- step: price_spread_daily__spread_figures
SELECT
  key,
  n AS offers,
  shops,
  CAST((
    lowest * 0.0001
  ) AS DECIMAL(18, 4)) AS `min`,
  CAST((
    q1 * 0.0001
  ) AS DECIMAL(18, 4)) AS p25,
  CAST((
    q2 * 0.0001
  ) AS DECIMAL(18, 4)) AS median,
  CAST((
    q3 * 0.0001
  ) AS DECIMAL(18, 4)) AS p75,
  CAST((
    highest * 0.0001
  ) AS DECIMAL(18, 4)) AS `max`,
  CAST((
    CAST(average AS BIGINT) * 0.0001
  ) AS DECIMAL(18, 4)) AS mean,
  deviation AS stddev,
  CAST((
    (
      highest - lowest
    ) * 0.0001
  ) AS DECIMAL(18, 4)) AS spread,
  100 * CAST((
    highest - lowest
  ) AS DOUBLE) / CAST(lowest AS DOUBLE) AS spread_pct,
  CAST((
    cheapest - CAST(lowest AS DECIMAL(38, 0)) * 18446744073709551616
  ) AS BIGINT) AS cheapest_site_id,
  CAST((
    CAST(highest AS DECIMAL(38, 0)) * 18446744073709551616 - dearest
  ) AS BIGINT) AS dearest_site_id,
  n - COALESCE(m, n) AS outliers,
  CAST((
    COALESCE(GET(kept, 0), lowest) * 0.0001
  ) AS DECIMAL(18, 4)) AS inlier_min,
  CAST((
    COALESCE(
      (
        GET(kept, (
          (
            m + 1
          ) DIV 2
        ) - 1) + GET(kept, (
          m DIV 2 + 1
        ) - 1) + 1
      ) DIV 2,
      q2
    ) * 0.0001
  ) AS DECIMAL(18, 4)) AS inlier_median,
  CAST((
    COALESCE(GET(kept, m - 1), highest) * 0.0001
  ) AS DECIMAL(18, 4)) AS inlier_max,
  CAST((
    CAST(COALESCE(
      CAST((
        (
          2 * kept_total + m
        ) - (
          2 * kept_total + m
        ) % (
          2 * m
        )
      ) / (
        2 * m
      ) AS DECIMAL(38, 0)),
      average
    ) AS BIGINT) * 0.0001
  ) AS DECIMAL(18, 4)) AS inlier_mean,
  100 * CAST((
    COALESCE(GET(kept, m - 1), highest) - COALESCE(GET(kept, 0), lowest)
  ) AS DOUBLE) / CAST(COALESCE(GET(kept, 0), lowest) AS DOUBLE) AS inlier_spread_pct
FROM price_spread_daily__quartiles AS quartiles
LEFT JOIN price_spread_daily__inliers AS inliers
  USING (key);
-- step: price_spread_daily__credited
SELECT
  group_id,
  day,
  ARRAY_SORT(COLLECT_LIST(DISTINCT attribution)) AS attribution
FROM price_spread_daily__spells AS spells
JOIN (
  SELECT
    group_id,
    from_day,
    to_day,
    attribution
  FROM price_spread_daily__exact_prices AS exact_prices
  JOIN sites
    USING (site_id)
  WHERE
    is_current AND NOT attribution IS NULL
)
  USING (group_id)
WHERE
  from_day <= day AND day < to_day
GROUP BY
  group_id,
  day;
-- step: price_spread_daily__figures
SELECT
  product_id,
  currency,
  day,
  until,
  spread_figures.offers,
  spread_figures.shops,
  spread_figures.min,
  spread_figures.p25,
  spread_figures.median,
  spread_figures.p75,
  spread_figures.max,
  spread_figures.mean,
  spread_figures.stddev,
  spread_figures.spread,
  spread_figures.spread_pct,
  spread_figures.cheapest_site_id,
  spread_figures.dearest_site_id,
  spread_figures.outliers,
  spread_figures.inlier_min,
  spread_figures.inlier_median,
  spread_figures.inlier_max,
  spread_figures.inlier_mean,
  spread_figures.inlier_spread_pct,
  COALESCE(attribution, ARRAY()) AS attribution
FROM price_spread_daily__spread_figures AS spread_figures
JOIN price_spread_daily__price_groups AS price_groups
  USING (key)
JOIN price_spread_daily__groups AS groups
  USING (group_id)
LEFT JOIN price_spread_daily__credited AS credited
  USING (group_id, day)
ORDER BY
  product_id NULLS LAST,
  currency NULLS LAST,
  day NULLS LAST;
-- step: price_spread_daily
SELECT
  EXPLODE(SEQUENCE(day, DATE_SUB(until, 1))) AS day,
  product_id,
  currency,
  offers,
  shops,
  min,
  p25,
  median,
  p75,
  max,
  mean,
  stddev,
  spread,
  spread_pct,
  cheapest_site_id,
  dearest_site_id,
  outliers,
  inlier_min,
  inlier_median,
  inlier_max,
  inlier_mean,
  inlier_spread_pct,
  attribution,
  CAST(:run_id AS STRING) AS run_id
FROM price_spread_daily__figures AS figures;
