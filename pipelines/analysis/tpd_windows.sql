-- part of: price indices
-- Time-product dummy in each window: least squares of log price on series and period, where the window's first period
-- is zero. Reads prices (key, pattern_key, t, n, total: n series with the sum of their log prices) and spans, as in
-- geks_windows.sql. After the series' means are removed, a linear system of the periods remains: the matrix is counts
-- minus shared presence, and the right side is how far prices are above the means.
WITH inside AS MATERIALIZED (
  SELECT
    spans.key, last_t, base_t, t, pattern_key, n, total,
    count(*) OVER (PARTITION BY spans.key, last_t, pattern_key) AS m,
    sum(total) OVER (PARTITION BY spans.key, last_t, pattern_key) AS all_total
  FROM spans
  JOIN prices ON prices.key = spans.key AND t BETWEEN first_t AND last_t
),
shared AS (
  SELECT one.key, one.last_t, one.t AS a, two.t AS b, sum(one.n / one.m) AS weight
  FROM inside AS one
  JOIN inside AS two USING (key, last_t, pattern_key)
  WHERE one.t > one.base_t AND two.t > two.base_t
  GROUP BY one.key, one.last_t, one.t, two.t
),
above AS (
  SELECT
    key, last_t, t,
    dense_rank() OVER (PARTITION BY key, last_t ORDER BY t) AS place,
    sum(n)::BIGINT AS n,
    sum((m * total - all_total) / (1e15 * m)) AS total
  FROM inside
  WHERE t > base_t
  GROUP BY key, last_t, t
),
equations AS (
  SELECT key, last_t, list(equation ORDER BY a) AS matrix, list(a ORDER BY a) AS times, count(*) AS size
  FROM (
    SELECT
      one.key,
      one.last_t,
      one.t AS a,
      list_append(
        list(CASE WHEN one.t = two.t THEN one.n ELSE 0 END - coalesce(weight, 0) ORDER BY two.t),
        any_value(one.total)
      ) AS equation
    FROM above AS one
    JOIN above AS two USING (key, last_t)
    LEFT JOIN shared ON shared.key = one.key AND shared.last_t = one.last_t AND shared.a = one.t AND shared.b = two.t
    GROUP BY one.key, one.last_t, one.t
  )
  GROUP BY key, last_t
),
-- Gauss-Jordan elimination, with one step per equation. The step number is passed as a matrix with one element, because
-- all elements of a list have the same type.
solved AS (
  SELECT key, last_t, times, list_transform(matrix, lambda equation: equation[size + 1]) AS levels
  FROM (
    SELECT key, last_t, times, size, list_reduce(
      list_prepend(matrix, list_transform(range(1, size + 1), lambda k: [[k::DOUBLE]])),
      lambda m, step: list_transform(
        [{'k': step[1][1]::BIGINT, 'factors': m[step[1][1]::BIGINT]}],
        lambda own: list_transform(m, lambda equation, i: CASE
          WHEN i = own.k THEN list_transform(equation, lambda x: x / CASE WHEN abs(equation[own.k]) > 1e-9 THEN equation[own.k] END)
          -- An equation without this variable stays unchanged.
          WHEN equation[own.k] = 0 THEN equation
          ELSE list_transform(equation, lambda x, j:
            x - equation[own.k] * own.factors[j] / CASE WHEN abs(own.factors[own.k]) > 1e-9 THEN own.factors[own.k] END)
        END)
      )[1]
    ) AS matrix
    FROM equations
  )
)
SELECT key, last_t, base_t AS t, 0::DOUBLE AS level
FROM spans
UNION ALL
SELECT key, last_t, times[place] AS t, levels[place] AS level
FROM above
JOIN solved USING (key, last_t)
