-- Made by generate.py from pipelines/analysis/price_index.sql: change that one. Source d543897c8bb51299.
-- step: price_index__settings, kept
SELECT
  COALESCE(CAST(:period AS STRING), 'month') AS unit,
  COALESCE(CAST(:by AS STRING), 'category') AS by_what,
  COALESCE(CAST(:window_periods AS INT), 25) AS most_periods,
  COALESCE(CAST(:until AS DATE), known_day) AS until_day,
  COALESCE(
    CAST(:since AS DATE),
    CASE unit
      WHEN 'week'
      THEN until_day - 364
      WHEN 'day'
      THEN until_day - 60
      ELSE CAST('0001-01-01' AS DATE)
    END
  ) AS since_day
FROM (
  SELECT
    seen_day AS known_day
  FROM (
    SELECT
      seen_us,
      CAST('1970-01-01' AS DATE) + CAST((
        seen_us DIV 86400000000
      ) AS INT) AS seen_day
    FROM (
      SELECT
        UNIX_MICROS(
          COALESCE(
            MAX(last_seen_at) FILTER(WHERE
              last_seen_at <= COALESCE(read_at, last_seen_at) + INTERVAL '1' DAY
              OR CAST('1970-01-01' AS DATE) + CAST((
                UNIX_MICROS(last_seen_at) DIV 86400000000
              ) AS INT) <= written_day + 1),
            MAX(last_seen_at)
          )
        ) AS seen_us
      FROM (
        SELECT
          last_seen_at,
          read_at,
          TRY_CAST(SUBSTRING(run_id, 8, 4) || '-' || SUBSTRING(run_id, 12, 2) || '-' || SUBSTRING(run_id, 14, 2) AS DATE) AS written_day
        FROM items
      )
    )
  )
);
-- step: price_index__spells
WITH known AS (
  SELECT DISTINCT
    category_slug AS slug,
    category_name AS name,
    category_path AS path
  FROM items
  WHERE
    NOT category_slug IS NULL AND NOT :category IS NULL
), separators AS (
  SELECT
    MODE(
      REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
    ) AS separator
  FROM known
  WHERE
    ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name)
), named AS (
  SELECT
    slug,
    path
  FROM (
    SELECT
      slug,
      path,
      place,
      MIN(place) OVER () AS _w
    FROM (
      SELECT
        slug,
        path,
        CASE
          WHEN slug = :category
          THEN 1
          WHEN LOWER(path) = LOWER(CAST(:category AS STRING))
          THEN 2
          WHEN LOWER(name) = LOWER(CAST(:category AS STRING))
          THEN 3
        END AS place
      FROM known
    )
    WHERE
      NOT place IS NULL
  ) AS _t
  WHERE
    place = _w
), chosen AS (
  SELECT
    path
  FROM named
  UNION
  SELECT
    CAST(:category AS STRING)
)
SELECT
  item_id,
  currency,
  CAST(ROUND(LN(CAST(price AS DOUBLE)) * 1e15) AS BIGINT) AS log_price,
  CASE WHEN CONTAINS(by_what, 'category') THEN category_slug END AS category_slug,
  CASE WHEN CONTAINS(by_what, 'shop') THEN site_id END AS site_id,
  CASE unit
    WHEN 'month'
    THEN YEAR(from_day) * 12 + MONTH(from_day) - 1
    WHEN 'week'
    THEN CAST((
      from_day - CAST('1970-01-05' AS DATE)
    ) AS BIGINT) DIV 7
    WHEN 'day'
    THEN CAST((
      from_day - CAST('1970-01-05' AS DATE)
    ) AS BIGINT)
  END AS first_period,
  CASE unit
    WHEN 'month'
    THEN YEAR(last_day) * 12 + MONTH(last_day) - 1
    WHEN 'week'
    THEN CAST((
      last_day - CAST('1970-01-05' AS DATE)
    ) AS BIGINT) DIV 7
    WHEN 'day'
    THEN CAST((
      last_day - CAST('1970-01-05' AS DATE)
    ) AS BIGINT)
  END AS end_period
FROM (
  SELECT
    item_id,
    currency,
    price,
    category_slug,
    site_id,
    from_day,
    unit,
    by_what,
    CASE
      WHEN to_day <= until_day
      THEN to_day
      WHEN unit = 'month'
      THEN CAST((
        DATE_TRUNC('MONTH', until_day) + INTERVAL '1' MONTH
      ) AS DATE)
      WHEN unit = 'week'
      THEN until_day + 7
      ELSE until_day + 1
    END AS last_day
  FROM price_spells, price_index__settings AS settings
  WHERE
    from_day <= until_day
    AND (
      to_day IS NULL OR to_day > from_day
    )
    AND NOT is_suspect
    AND (
      :currency IS NULL OR currency = :currency
    )
    AND (
      :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
    )
    AND (
      :category IS NULL
      OR category_slug IN (
        SELECT
          slug
        FROM named
        UNION
        SELECT
          slug
        FROM known, chosen, separators
        WHERE
          LOWER(known.path) = LOWER(chosen.path)
          OR (
            separator <> ''
            AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
          )
      )
    )
    AND COALESCE(to_day, until_day + 1) > since_day
);
-- step: price_index__since_period
SELECT
  CASE unit
    WHEN 'month'
    THEN YEAR(since) * 12 + MONTH(since) - 1
    WHEN 'week'
    THEN CAST((
      since - CAST('1970-01-05' AS DATE)
    ) AS BIGINT) DIV 7
    WHEN 'day'
    THEN CAST((
      since - CAST('1970-01-05' AS DATE)
    ) AS BIGINT)
  END AS since_period
FROM (
  SELECT
    unit,
    since_day AS since
  FROM price_index__settings AS settings
);
-- step: price_index__dated, kept
SELECT
  spells.item_id,
  spells.currency,
  spells.log_price,
  spells.category_slug,
  spells.site_id,
  GREATEST(first_period, since_period) AS first_period,
  spells.end_period,
  since_period.since_period
FROM price_index__spells AS spells, price_index__since_period AS since_period
WHERE
  GREATEST(first_period, since_period) < end_period;
-- step: price_index__bounds
SELECT
  MIN(first_period) AS first_bound,
  MAX(end_period) AS end_bound
FROM price_index__dated AS dated;
-- step: price_index__listings, kept
SELECT
  category_slug,
  currency,
  site_id,
  item_id,
  CAST(CASE
    WHEN ANY_VALUE(end_bound - first_bound) IGNORE NULLS <= 120
    THEN SUM(
      (
        (
          CAST(SHIFTLEFT(CAST(1 AS BIGINT), LEAST(CAST(LEAST(end_period - first_bound, 120) AS INT), 60)) AS DECIMAL(19, 0)) * CAST(SHIFTLEFT(
            CAST(1 AS BIGINT),
            GREATEST(CAST(LEAST(end_period - first_bound, 120) AS INT) - 60, 0)
          ) AS DECIMAL(19, 0))
        )
      ) - (
        (
          CAST(SHIFTLEFT(CAST(1 AS BIGINT), LEAST(CAST(LEAST(first_period - first_bound, 120) AS INT), 60)) AS DECIMAL(19, 0)) * CAST(SHIFTLEFT(
            CAST(1 AS BIGINT),
            GREATEST(CAST(LEAST(first_period - first_bound, 120) AS INT) - 60, 0)
          ) AS DECIMAL(19, 0))
        )
      )
    )
    ELSE item_id
  END AS DECIMAL(38, 0)) AS pattern
FROM price_index__dated AS dated, price_index__bounds AS bounds
GROUP BY
  category_slug,
  currency,
  site_id,
  item_id;
-- step: price_index__patterns, kept
SELECT
  ROW_NUMBER() OVER (
    ORDER BY category_slug NULLS LAST, currency NULLS LAST, site_id NULLS LAST, pattern NULLS LAST
  ) AS pattern_key,
  DENSE_RANK() OVER (ORDER BY category_slug NULLS LAST, currency NULLS LAST, site_id NULLS LAST) AS key,
  category_slug,
  currency,
  site_id,
  pattern,
  n
FROM (
  SELECT
    category_slug,
    currency,
    site_id,
    pattern,
    COUNT(*) AS n
  FROM price_index__listings AS listings
  GROUP BY ALL
);
-- step: price_index__steps
SELECT
  pattern_key,
  change.period AS period,
  SUM(CAST(change.log_price AS DECIMAL(38, 0))) AS log_step,
  SUM(change.present) AS step
FROM (
  SELECT
    pattern_key,
    EXPLODE(
      ARRAY(
        NAMED_STRUCT('period', dated.first_period, 'log_price', log_price, 'present', 1),
        NAMED_STRUCT('period', dated.end_period, 'log_price', -log_price, 'present', -1)
      )
    ) AS change
  FROM price_index__dated AS dated
  JOIN price_index__listings AS listings
    ON listings.item_id = dated.item_id
    AND listings.currency = dated.currency
    AND listings.category_slug IS NOT DISTINCT FROM dated.category_slug
    AND listings.site_id IS NOT DISTINCT FROM dated.site_id
  JOIN price_index__patterns AS patterns
    ON patterns.pattern = listings.pattern
    AND patterns.currency = listings.currency
    AND patterns.category_slug IS NOT DISTINCT FROM listings.category_slug
    AND patterns.site_id IS NOT DISTINCT FROM listings.site_id
)
GROUP BY
  pattern_key,
  change.period;
-- step: price_index__sums, kept
SELECT
  pattern_key,
  key,
  n,
  period,
  total,
  DENSE_RANK() OVER (PARTITION BY key ORDER BY period NULLS LAST) AS t,
  COUNT(*) OVER (PARTITION BY pattern_key) AS m
FROM (
  SELECT
    pattern_key,
    key,
    n,
    EXPLODE(IF(period > (
      until - 1
    ), ARRAY(), SEQUENCE(period, (
      until - 1
    )))) AS period,
    total
  FROM (
    SELECT
      pattern_key,
      key,
      n,
      period,
      COALESCE(LEAD(period) OVER in_order, period) AS until,
      SUM(log_step) OVER in_order AS total,
      SUM(step) OVER in_order AS present
    FROM price_index__steps AS steps
    JOIN price_index__patterns AS patterns
      USING (pattern_key)
    WINDOW in_order AS (PARTITION BY pattern_key ORDER BY period NULLS LAST)
  )
  WHERE
    present > 0
);
-- step: price_index__periods, kept
SELECT
  key,
  category_slug,
  currency,
  site_id,
  period,
  t,
  items,
  COUNT(*) OVER (PARTITION BY key) AS periods
FROM (
  SELECT
    key,
    category_slug,
    currency,
    site_id,
    period,
    t,
    items
  FROM (
    SELECT
      key,
      period,
      t,
      CAST(SUM(n) AS BIGINT) AS items
    FROM price_index__sums AS sums
    GROUP BY ALL
  )
  JOIN (
    SELECT DISTINCT
      key,
      category_slug,
      currency,
      site_id
    FROM price_index__patterns AS patterns
  )
    USING (key)
);
-- step: price_index__prices, kept
SELECT
  key,
  CAST(t AS INT) AS t,
  pattern_key,
  n,
  total,
  m
FROM price_index__sums AS sums;
-- step: price_index__groups, kept
SELECT
  key,
  CAST(ANY_VALUE(periods) IGNORE NULLS AS INT) AS periods,
  CAST(LEAST(ANY_VALUE(periods) IGNORE NULLS, ANY_VALUE(most_periods) IGNORE NULLS) AS INT) AS width
FROM price_index__periods AS periods, price_index__settings AS settings
GROUP BY
  key;
-- step: price_index__pairs, kept
SELECT
  one.key,
  one.t AS a,
  two.t AS b,
  CAST(SUM(one.n) AS BIGINT) AS matched,
  SUM(two.total - one.total) / (
    1e15 * matched
  ) AS change
FROM price_index__prices AS one
JOIN price_index__prices AS two
  USING (key, pattern_key)
JOIN price_index__groups AS groups
  USING (key)
WHERE
  two.t > one.t AND (
    two.t - one.t < width OR one.t = 1
  )
GROUP BY
  one.key,
  one.t,
  two.t;
-- step: price_index__links, kept
SELECT
  key,
  a,
  b,
  change
FROM price_index__pairs AS pairs
UNION ALL
SELECT
  key,
  b,
  a,
  -change
FROM price_index__pairs AS pairs
UNION ALL
SELECT
  key,
  t,
  t,
  0
FROM price_index__periods AS periods;
-- step: price_index__spans, kept
SELECT
  key,
  width,
  EXPLODE(
    IF(width > (
      periods + 1 - 1
    ), ARRAY(), SEQUENCE(width, (
      periods + 1 - 1
    )))
  ) AS last_t
FROM price_index__groups AS groups;
-- step: price_index__ways
SELECT
  spans.key,
  last_t,
  there.b AS t,
  AVG(there.change - back.change) AS level
FROM price_index__spans AS spans
JOIN price_index__links AS back
  ON back.key = spans.key
  AND back.b = last_t - width + 1
  AND back.a BETWEEN last_t - width + 1 AND last_t
JOIN price_index__links AS there
  ON there.key = spans.key
  AND there.a = back.a
  AND there.b BETWEEN last_t - width + 1 AND last_t
GROUP BY ALL;
-- step: price_index__windows
SELECT
  key,
  last_t,
  TRANSFORM(ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('at', t, 'value', level))), one -> one.value) AS levels
FROM (
  SELECT
    key,
    last_t,
    EXPLODE(
      IF(
        (
          last_t + 1 - 1
        ) < last_t - width + 1,
        ARRAY(),
        SEQUENCE(last_t - width + 1, (
          last_t + 1 - 1
        ))
      )
    ) AS t
  FROM price_index__spans AS spans
)
LEFT JOIN price_index__ways AS ways
  USING (key, last_t, t)
GROUP BY
  key,
  last_t;
-- step: price_index__spliced
SELECT
  key,
  AGGREGATE(
    SLICE(
      TRANSFORM(
        ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('at', last_t, 'value', levels))),
        one -> one.value
      ),
      2,
      SIZE(
        TRANSFORM(
          ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('at', last_t, 'value', levels))),
          one -> one.value
        )
      )
    ),
    GET(
      TRANSFORM(
        ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('at', last_t, 'value', levels))),
        one -> one.value
      ),
      0
    ),
    (published, next) -> ARRAY_APPEND(
      COALESCE(published, ARRAY()),
      GET(next, width - 1) + AGGREGATE(
        FILTER(
          TRANSFORM(
            IF((
              width - 1
            ) < 1, ARRAY(), SEQUENCE(1, (
              width - 1
            ))),
            l -> GET(published, (
              ARRAY_SIZE(published) - width + 1 + l
            ) - 1) - GET(next, (
              l
            ) - 1)
          ),
          one -> NOT one IS NULL
        ),
        NAMED_STRUCT('n', CAST(0 AS DOUBLE), 'total', CAST(0 AS DOUBLE)),
        (s, x) -> NAMED_STRUCT('n', s.n + CAST(1 AS DOUBLE), 'total', s.total + x),
        s -> s.total / NULLIF(s.n, CAST(0 AS DOUBLE))
      )
    )
  ) AS levels
FROM price_index__windows AS windows
JOIN price_index__groups AS groups
  USING (key)
GROUP BY
  key,
  width;
-- step: price_index__shared
SELECT
  one.key,
  one.t AS a,
  two.t AS b,
  SUM(one.n / one.m) AS weight
FROM price_index__prices AS one
JOIN price_index__prices AS two
  USING (key, pattern_key)
WHERE
  one.t > 1 AND two.t > 1
GROUP BY ALL;
-- step: price_index__means
SELECT
  pattern_key,
  SUM(total) AS total
FROM price_index__prices AS prices
GROUP BY
  pattern_key;
-- step: price_index__above, kept
SELECT
  key,
  t,
  CAST(SUM(n) AS BIGINT) AS n,
  SUM((
    m * prices.total - means.total
  ) / (
    1e15 * m
  )) AS total
FROM price_index__prices AS prices
JOIN price_index__means AS means
  USING (pattern_key)
WHERE
  t > 1
GROUP BY
  key,
  t;
-- step: price_index__equations
SELECT
  key,
  TRANSFORM(
    ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('at', a, 'value', equation))),
    one -> one.value
  ) AS matrix,
  COUNT(*) AS size
FROM (
  SELECT
    one.key,
    one.t AS a,
    ARRAY_APPEND(
      COALESCE(
        TRANSFORM(
          ARRAY_SORT(
            COLLECT_LIST(
              NAMED_STRUCT(
                'at',
                two.t,
                'value',
                CASE WHEN one.t = two.t THEN one.n ELSE 0 END - COALESCE(weight, 0)
              )
            )
          ),
          one -> one.value
        ),
        ARRAY()
      ),
      ANY_VALUE(one.total) IGNORE NULLS
    ) AS equation
  FROM price_index__above AS one
  JOIN price_index__above AS two
    USING (key)
  LEFT JOIN price_index__shared AS shared
    ON shared.key = one.key AND shared.a = one.t AND shared.b = two.t
  GROUP BY
    one.key,
    one.t
)
GROUP BY
  key;
-- step: price_index__solved
SELECT
  key,
  ARRAY_PREPEND(
    COALESCE(TRANSFORM(matrix, equation -> GET(equation, (
      size + 1
    ) - 1)), ARRAY()),
    0
  ) AS levels
FROM (
  SELECT
    key,
    size,
    AGGREGATE(
      TRANSFORM(
        IF((
          size + 1 - 1
        ) < 1, ARRAY(), SEQUENCE(1, (
          size + 1 - 1
        ))),
        k -> ARRAY(ARRAY(CAST(k AS DOUBLE)))
      ),
      matrix,
      (m, step) -> GET(
        TRANSFORM(
          ARRAY(
            NAMED_STRUCT(
              'k',
              CAST(GET(GET(step, 0), 0) AS BIGINT),
              'factors',
              GET(m, (
                CAST(GET(GET(step, 0), 0) AS BIGINT)
              ) - 1)
            )
          ),
          own -> TRANSFORM(
            m,
            (equation, i) -> CASE
              WHEN (
                i + 1
              ) = own.k
              THEN TRANSFORM(
                equation,
                x -> x / CASE
                  WHEN ABS(GET(equation, (
                    own.k
                  ) - 1)) > 1e-9
                  THEN GET(equation, (
                    own.k
                  ) - 1)
                END
              )
              WHEN GET(equation, (
                own.k
              ) - 1) = 0
              THEN equation
              ELSE TRANSFORM(
                equation,
                (x, j) -> x - GET(equation, (
                  own.k
                ) - 1) * GET(own.factors, (
                  (
                    j + 1
                  )
                ) - 1) / CASE
                  WHEN ABS(GET(own.factors, (
                    own.k
                  ) - 1)) > 1e-9
                  THEN GET(own.factors, (
                    own.k
                  ) - 1)
                END
              )
            END
          )
        ),
        0
      )
    ) AS matrix
  FROM price_index__equations AS equations
);
-- step: price_index
SELECT
  category_slug,
  currency,
  site_id,
  sites.name AS shop,
  CASE unit
    WHEN 'month'
    THEN MAKE_DATE(CAST((
      period DIV 12
    ) AS INT), CAST((
      period % 12
    ) AS INT) + 1, 1)
    WHEN 'week'
    THEN CAST('1970-01-05' AS DATE) + CAST((
      period * 7
    ) AS INT)
    WHEN 'day'
    THEN CAST('1970-01-05' AS DATE) + CAST(period AS INT)
  END AS period,
  items,
  COALESCE(step.matched, 0) AS matched,
  CASE
    WHEN COUNT(step.change) OVER so_far = periods.t - 1
    THEN 100 * EXP(COALESCE(SUM(step.change) OVER so_far, 0))
  END AS jevons,
  CASE WHEN periods.t = 1 THEN 100 ELSE 100 * EXP(direct.change) END AS jevons_direct,
  100 * EXP(GET(spliced.levels, periods.t - 1)) AS geks_jevons,
  CASE
    WHEN periods.periods = 1
    THEN 100
    ELSE 100 * EXP(GET(solved.levels, periods.t - 1))
  END AS tpd,
  sites.attribution
FROM price_index__periods AS periods
CROSS JOIN price_index__settings AS settings
LEFT JOIN price_index__pairs AS step
  ON step.key = periods.key AND step.b = periods.t AND step.a = periods.t - 1
LEFT JOIN price_index__pairs AS direct
  ON direct.key = periods.key AND direct.b = periods.t AND direct.a = 1
LEFT JOIN price_index__spliced AS spliced
  ON spliced.key = periods.key
LEFT JOIN price_index__solved AS solved
  ON solved.key = periods.key
LEFT JOIN sites
  USING (site_id)
WHERE
  COALESCE(sites.is_current, TRUE)
WINDOW so_far AS (PARTITION BY periods.key ORDER BY periods.t NULLS LAST)
ORDER BY
  category_slug NULLS LAST,
  currency NULLS LAST,
  site_id NULLS LAST,
  period NULLS LAST;
