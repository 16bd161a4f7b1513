-- Made by generate.py from pipelines/analysis/price_spread.sql: change that one. Source b1153ac3f5261010.
-- columns: product_id STRING, currency STRING, offers BIGINT, shops BIGINT, min DECIMAL(18,4), p25 DECIMAL(18,4), median DECIMAL(18,4), p75 DECIMAL(18,4), max DECIMAL(18,4), mean DECIMAL(18,4), stddev DECIMAL(18,4), spread DECIMAL(18,4), spread_pct DOUBLE, cheapest_site_id BIGINT, dearest_site_id BIGINT, outliers BIGINT, inlier_min DECIMAL(18,4), inlier_median DECIMAL(18,4), inlier_max DECIMAL(18,4), inlier_mean DECIMAL(18,4), inlier_spread_pct DOUBLE, attribution ARRAY<STRING>, run_id STRING, grade STRING, grade_reason STRING, left_out BIGINT, trusted_shops BIGINT, trusted_min DECIMAL(18,4), trusted_median DECIMAL(18,4), trusted_max DECIMAL(18,4), trusted_spread_pct DOUBLE, trusted_cheapest_site_id BIGINT, trusted_dearest_site_id BIGINT, unit STRING, unit_min DECIMAL(18,4), unit_max DECIMAL(18,4), unit_spread_pct DOUBLE
-- step: price_spread__compared
SELECT
  product_id,
  currency
FROM offers
WHERE
  price > 0
GROUP BY
  product_id,
  currency
HAVING
  MIN(site_id) <> MAX(site_id);
-- step: price_spread__priced
SELECT
  product_id,
  currency,
  site_id,
  price,
  CASE
    WHEN is_counted AND previous_price BETWEEN price / 2.5 AND CAST(price AS DOUBLE) * 2.5
    THEN CAST((
      CAST(previous_price AS DECIMAL(23, 4)) * 10000
    ) AS BIGINT)
  END AS units_before,
  is_counted,
  is_counted AND doubts <> ARRAY() AS is_doubted,
  findings,
  unit,
  CASE WHEN is_counted OR findings = ARRAY('pack') THEN NULLIF(unit_price, 0) END AS unit_price
FROM offers
SEMI JOIN price_spread__compared AS compared
  USING (product_id, currency)
WHERE
  price > 0;
-- step: price_spread__exact_prices
SELECT
  product_id,
  currency,
  site_id,
  price,
  units_before,
  is_counted,
  is_doubted,
  findings,
  unit,
  unit_price,
  CASE
    WHEN ABS(price) < 10000000000
    THEN CAST((
      price * 10000
    ) AS BIGINT)
    ELSE CAST((
      CAST(price AS DECIMAL(23, 4)) * 10000
    ) AS BIGINT)
  END AS units
FROM price_spread__priced AS priced;
-- step: price_spread__price_groups, kept
SELECT
  product_id || ' ' || currency AS key,
  product_id,
  currency,
  SUM(CAST(units AS DECIMAL(38, 0))) AS total,
  ARRAY_SORT(COLLECT_LIST(units)) AS prices,
  ARRAY_DISTINCT(COLLECT_LIST(site_id)) AS site_ids,
  CAST(ARRAY_SIZE(site_ids) AS BIGINT) AS shops,
  MIN(CAST(units AS DECIMAL(38, 0)) * 18446744073709551616 + site_id) AS cheapest,
  MAX(CAST(units AS DECIMAL(38, 0)) * 18446744073709551616 - site_id) AS dearest,
  COUNT(*) FILTER(WHERE
    NOT is_counted) AS left_out,
  CASE
    WHEN left_out = 0
    THEN prices
    ELSE ARRAY_SORT(COLLECT_LIST(units) FILTER(WHERE
      is_counted))
  END AS trusted,
  MIN(units) FILTER(WHERE
    is_counted AND NOT is_doubted) AS sure_min,
  MAX(units) FILTER(WHERE
    is_counted AND NOT is_doubted) AS sure_max,
  BOOL_OR(is_doubted) AS has_doubts,
  COLLECT_LIST(
    NAMED_STRUCT('low', LEAST(units, units_before), 'high', GREATEST(units, units_before))
  ) FILTER(WHERE
    NOT units_before IS NULL) AS moves,
  MIN(CAST(units AS DECIMAL(38, 0)) * 18446744073709551616 + site_id) FILTER(WHERE
    is_counted) AS trusted_cheapest,
  MAX(CAST(units AS DECIMAL(38, 0)) * 18446744073709551616 - site_id) FILTER(WHERE
    is_counted) AS trusted_dearest,
  COLLECT_LIST(findings) FILTER(WHERE
    NOT is_counted) AS left_out_findings,
  MIN(unit) FILTER(WHERE
    NOT unit_price IS NULL) AS unit,
  MIN(unit) FILTER(WHERE
    NOT unit_price IS NULL) = MAX(unit) FILTER(WHERE
    NOT unit_price IS NULL)
  AND MIN(site_id) FILTER(WHERE
    NOT unit_price IS NULL) <> MAX(site_id) FILTER(WHERE
    NOT unit_price IS NULL) AS has_units,
  MIN(unit_price) AS unit_min,
  MAX(unit_price) AS unit_max
FROM price_spread__exact_prices AS exact_prices
GROUP BY
  product_id,
  currency;
-- step: price_spread__quartiles, kept
SELECT
  key,
  product_id,
  currency,
  total,
  prices,
  site_ids,
  shops,
  cheapest,
  dearest,
  left_out,
  trusted,
  sure_min,
  sure_max,
  has_doubts,
  moves,
  trusted_cheapest,
  trusted_dearest,
  left_out_findings,
  unit,
  has_units,
  unit_min,
  unit_max,
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
FROM price_spread__price_groups AS price_groups;
-- step: price_spread__middles
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
FROM price_spread__price_groups AS price_groups
WHERE
  ARRAY_SIZE(prices) >= 4;
-- step: price_spread__distances
SELECT
  key,
  n,
  middle_squared,
  ARRAY_SORT(TRANSFORM(prices, price -> ABS(LN(price) - LN(middle_squared) / 2))) AS gaps
FROM price_spread__middles AS middles
WHERE
  CAST(GET(prices, n - 1) AS DECIMAL(38, 0)) * GET(prices, n - 1) > 4 * middle_squared
  OR 4 * (
    CAST(GET(prices, 0) AS DECIMAL(38, 0)) * GET(prices, 0)
  ) < middle_squared;
-- step: price_spread__outlier_limits
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
FROM price_spread__distances AS distances;
-- step: price_spread__inliers
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
  FROM price_spread__quartiles AS quartiles
  JOIN price_spread__outlier_limits AS outlier_limits
    USING (key)
);
-- step: price_spread__spread_figures
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
FROM price_spread__quartiles AS quartiles
LEFT JOIN price_spread__inliers AS inliers
  USING (key);
-- step: price_spread__credited
SELECT
  key,
  ARRAY_SORT(COLLECT_LIST(DISTINCT attribution)) AS attribution
FROM (
  SELECT
    key,
    EXPLODE(site_ids) AS site_id
  FROM price_spread__price_groups AS price_groups
)
JOIN (
  SELECT
    site_id,
    attribution
  FROM sites
  WHERE
    is_current AND NOT attribution IS NULL
)
  USING (site_id)
GROUP BY
  key;
-- step: price_spread__counted
SELECT
  key,
  product_id,
  currency,
  total,
  prices,
  site_ids,
  shops,
  cheapest,
  dearest,
  left_out,
  trusted,
  sure_min,
  sure_max,
  has_doubts,
  moves,
  trusted_cheapest,
  trusted_dearest,
  left_out_findings,
  unit,
  has_units,
  unit_min,
  unit_max,
  COALESCE(ARRAY_SIZE(trusted), 0) AS n,
  ARRAY_SORT(ARRAY_DISTINCT(COALESCE(FLATTEN(left_out_findings), ARRAY()))) AS kinds
FROM price_spread__price_groups AS price_groups;
-- step: price_spread__stepped
SELECT
  key,
  product_id,
  currency,
  total,
  prices,
  site_ids,
  shops,
  cheapest,
  dearest,
  left_out,
  trusted,
  sure_min,
  sure_max,
  has_doubts,
  moves,
  trusted_cheapest,
  trusted_dearest,
  left_out_findings,
  unit,
  has_units,
  unit_min,
  unit_max,
  n,
  kinds,
  CASE
    WHEN GET(trusted, n - 1) > 1.6 * GET(trusted, 0)
    THEN ARRAY_MAX(
      TRANSFORM(
        FILTER(
          IF((
            n - 1
          ) < 1, ARRAY(), SEQUENCE(1, (
            n - 1
          ))),
          i -> GET(trusted, (
            i + 1
          ) - 1) / GET(trusted, i - 1) > CASE WHEN i = 1 OR i = n - 1 THEN 1.6 ELSE 4 END
          AND COALESCE(
            ARRAY_SIZE(
              TRANSFORM(
                FILTER(
                  moves,
                  move -> move.low <= 1.05 * GET(trusted, i - 1)
                  AND 1.05 * move.high >= GET(trusted, (
                    i + 1
                  ) - 1)
                ),
                move -> 1
              )
            ),
            0
          ) = 0
        ),
        i -> GET(trusted, (
          i + 1
        ) - 1) / GET(trusted, i - 1)
      )
    )
  END AS gap,
  CASE
    WHEN GET(trusted, n - 1) > 1.6 * GET(trusted, 0)
    THEN ARRAY_MAX(
      TRANSFORM(
        IF((
          n - 1
        ) < 1, ARRAY(), SEQUENCE(1, (
          n - 1
        ))),
        i -> GET(trusted, (
          i + 1
        ) - 1) / GET(trusted, i - 1)
      )
    ) > 1.6
    ELSE FALSE
  END AS is_parted,
  shops <= 3 AND ARRAY_CONTAINS(kinds, 'scale') AS is_off_scale,
  has_doubts
  AND COALESCE(sure_min <> GET(trusted, 0) OR sure_max <> GET(trusted, n - 1), TRUE) AS is_doubtful
FROM price_spread__counted AS counted;
-- step: price_spread__trust
SELECT
  key,
  product_id,
  currency,
  total,
  prices,
  site_ids,
  shops,
  cheapest,
  dearest,
  left_out,
  trusted,
  sure_min,
  sure_max,
  has_doubts,
  moves,
  trusted_cheapest,
  trusted_dearest,
  left_out_findings,
  unit,
  has_units,
  unit_min,
  unit_max,
  n,
  kinds,
  gap,
  is_parted,
  is_off_scale,
  is_doubtful,
  CASE
    WHEN n < 2 OR is_off_scale OR is_doubtful OR NOT gap IS NULL OR 2 * n < shops
    THEN 'C'
    WHEN n >= 4
    AND NOT has_doubts
    AND NOT is_parted
    AND (
      kinds = ARRAY() OR kinds = ARRAY('duplicate')
    )
    THEN 'A'
    ELSE 'B'
  END AS grade
FROM price_spread__stepped AS stepped;
-- step: price_spread
SELECT
  product_id,
  currency,
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
  COALESCE(attribution, ARRAY()) AS attribution,
  CAST(:run_id AS STRING) AS run_id,
  grade,
  CONCAT_WS(
    '; ',
    CASE
      WHEN n < 2
      THEN CASE n WHEN 0 THEN 'no' ELSE 'one' END || ' trusted shop of ' || trust.shops
      WHEN is_off_scale
      THEN trust.shops || ' shops that differ by a factor near 10, 100 or 1,000'
      WHEN is_doubtful
      THEN 'the lowest or highest price may be of another product'
      WHEN NOT gap IS NULL
      THEN CONCAT('a gap of factor ', FORMAT_NUMBER(gap, '0.0'), ' between two prices')
      WHEN 2 * n < trust.shops
      THEN 'most shops left out'
      ELSE n || ' shops'
    END,
    CASE WHEN left_out > 0 THEN 'left out: ' || ARRAY_JOIN(kinds, ', ') END
  ) AS grade_reason,
  left_out,
  n AS trusted_shops,
  CASE WHEN n > 1 THEN CAST((
    GET(trusted, 0) * 0.0001
  ) AS DECIMAL(18, 4)) END AS trusted_min,
  CASE
    WHEN n > 1
    THEN CAST((
      (
        (
          GET(trusted, (
            (
              n + 1
            ) DIV 2
          ) - 1) + GET(trusted, (
            n DIV 2 + 1
          ) - 1) + 1
        ) DIV 2
      ) * 0.0001
    ) AS DECIMAL(18, 4))
  END AS trusted_median,
  CASE WHEN n > 1 THEN CAST((
    GET(trusted, n - 1) * 0.0001
  ) AS DECIMAL(18, 4)) END AS trusted_max,
  CASE
    WHEN n > 1
    THEN 100 * CAST((
      GET(trusted, n - 1) - GET(trusted, 0)
    ) AS DOUBLE) / CAST(GET(trusted, 0) AS DOUBLE)
  END AS trusted_spread_pct,
  CASE
    WHEN n > 1
    THEN CAST((
      trusted_cheapest - CAST(GET(trusted, 0) AS DECIMAL(38, 0)) * 18446744073709551616
    ) AS BIGINT)
  END AS trusted_cheapest_site_id,
  CASE
    WHEN n > 1
    THEN CAST((
      CAST(GET(trusted, n - 1) AS DECIMAL(38, 0)) * 18446744073709551616 - trusted_dearest
    ) AS BIGINT)
  END AS trusted_dearest_site_id,
  CASE WHEN has_units THEN unit END AS unit,
  CASE WHEN has_units THEN unit_min END AS unit_min,
  CASE WHEN has_units THEN unit_max END AS unit_max,
  CASE
    WHEN has_units
    THEN 100 * CAST((
      unit_max - unit_min
    ) AS DOUBLE) / CAST(unit_min AS DOUBLE)
  END AS unit_spread_pct
FROM price_spread__spread_figures AS spread_figures
JOIN price_spread__trust AS trust
  USING (key)
LEFT JOIN price_spread__credited AS credited
  USING (key);
