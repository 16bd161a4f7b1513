-- How the price level moved from period to period, without weights: a listing's price in a period is its price at the
-- end of the period's last day, and only prices of the same listing are compared. One row per group and period; the
-- group's first period is 100. jevons: matched-model Jevons, chained; jevons_direct: the same against the first period
-- only; geks_jevons: GEKS over matched Jevons in a rolling window, extended by the mean splice on the published index;
-- tpd: time-product dummy, one regression over all periods. matched: number of listings also in the previous period.
-- Source: Consumer Price Index Manual (IMF and others, 2020), chapters 8 and 10; Eurostat, Guide on Multilateral
-- Methods in the HICP (2022); ONS, Consumer Prices Indices Technical Manual; mean splice: Diewert and Fox, Substitution
-- Bias in Multilateral Methods for CPI Construction, Journal of Business and Economic Statistics 40 (2022).
-- Exact: items, matched. The indices are doubles; equal to pyindexnum within 1e-9.
-- Limits: quantities are unknown, so each listing has the same weight. A listing and its successor are two listings.
-- Suspect prices are left out (price_spells). The last period may be incomplete. Listings that were gone before the
-- lake began are missing. If no listing links a period to the earlier ones, the index is null from there on. Each new
-- period repeats the regression, so tpd values get revised; its time grows with the cube of the number of periods, so
-- limit it with since.
-- Variables:
-- · period (month | week | day; default month): how long a period is
-- · by (any of all, category, shop; default category): what an index stands for, such as category and shop
-- · window_periods (whole number from 2; default 25): periods in a window
-- · currency (currency): only prices in this currency
-- · site_id (site): only this shop
-- · since (day; default everything for months, else 52 weeks or 60 days): first day
-- · until (day; default the last day that the lake knows): last day
WITH settings AS (
  SELECT
    coalesce(getvariable('period')::VARCHAR, 'month') AS unit,
    coalesce(getvariable('by')::VARCHAR, 'category') AS by_what,
    coalesce(getvariable('window_periods')::INTEGER, 25) AS most_periods,
    coalesce(getvariable('until')::DATE, known_day) AS until_day,
    coalesce(
      getvariable('since')::DATE,
      CASE unit WHEN 'week' THEN until_day - 364 WHEN 'day' THEN until_day - 60 ELSE DATE '0001-01-01' END
    ) AS since_day
  FROM (SELECT seen_day AS known_day FROM (FROM 'data_clock.sql'))
),
-- Months, weeks from Monday on, and days as numbers; a spell counts in each period at whose end it is current.
spells AS (
  SELECT
    item_id,
    currency,
    -- Sums of integers of 1e-15 are exact, so that an unchanged price gives no change at all.
    round(ln(price::DOUBLE) * 1e15)::BIGINT AS log_price,
    CASE WHEN contains(by_what, 'category') THEN category_slug END AS category_slug,
    CASE WHEN contains(by_what, 'shop') THEN site_id END AS site_id,
    CASE unit
      WHEN 'month' THEN year(from_day) * 12 + month(from_day) - 1
      WHEN 'week' THEN (from_day - DATE '1970-01-05')::BIGINT // 7
      WHEN 'day' THEN (from_day - DATE '1970-01-05')::BIGINT
    END AS first_period,
    CASE unit
      WHEN 'month' THEN year(last_day) * 12 + month(last_day) - 1
      WHEN 'week' THEN (last_day - DATE '1970-01-05')::BIGINT // 7
      WHEN 'day' THEN (last_day - DATE '1970-01-05')::BIGINT
    END AS end_period
  FROM (
    SELECT
      item_id, currency, price, category_slug, site_id, from_day, unit, by_what,
      -- First day at whose end the price is no longer current; after the last period if it still is.
      CASE
        WHEN to_day <= until_day THEN to_day
        WHEN unit = 'month' THEN (date_trunc('month', until_day) + INTERVAL 1 MONTH)::DATE
        WHEN unit = 'week' THEN until_day + 7
        ELSE until_day + 1
      END AS last_day
    FROM price_spells, settings
    WHERE from_day <= until_day AND (to_day IS NULL OR to_day > from_day) AND NOT is_suspect
      AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
      AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
      AND (getvariable('category') IS NULL OR category_slug IN (FROM 'category_tree.sql'))
      AND coalesce(to_day, until_day + 1) > since_day
  )
),
since_period AS (
  SELECT
    CASE unit
      WHEN 'month' THEN year(since) * 12 + month(since) - 1
      WHEN 'week' THEN (since - DATE '1970-01-05')::BIGINT // 7
      WHEN 'day' THEN (since - DATE '1970-01-05')::BIGINT
    END AS since_period
  FROM (SELECT unit, since_day AS since FROM settings)
),
dated AS (
  SELECT * REPLACE (greatest(first_period, since_period) AS first_period)
  FROM spells, since_period
  WHERE greatest(first_period, since_period) < end_period
),
bounds AS (
  SELECT min(first_period) AS first_bound, max(end_period) AS end_bound FROM dated
),
-- Listings with prices in the same periods are summed up before periods are compared: a pattern holds a bit a period,
-- or the listing itself where there are more periods than bits.
listings AS (
  SELECT
    category_slug, currency, site_id, item_id,
    CASE
      WHEN any_value(end_bound - first_bound) <= 120
        THEN sum((1::HUGEINT << least(end_period - first_bound, 120)::INTEGER)
          - (1::HUGEINT << least(first_period - first_bound, 120)::INTEGER))
      ELSE item_id
    END::HUGEINT AS pattern
  FROM dated, bounds
  GROUP BY category_slug, currency, site_id, item_id
),
patterns AS MATERIALIZED (
  SELECT
    row_number() OVER (ORDER BY category_slug, currency, site_id, pattern) AS pattern_key,
    dense_rank() OVER (ORDER BY category_slug, currency, site_id) AS key,
    *
  FROM (SELECT category_slug, currency, site_id, pattern, count(*) AS n FROM listings GROUP BY ALL)
),
-- Changes of a pattern's sums at the beginning of a period.
steps AS (
  SELECT pattern_key, change.period AS period, sum(change.log_price) AS log_step, sum(change.present) AS step
  FROM (
    SELECT pattern_key, unnest([
      {'period': dated.first_period, 'log_price': log_price, 'present': 1},
      {'period': dated.end_period, 'log_price': -log_price, 'present': -1}
    ]) AS change
    FROM dated
    JOIN listings
      ON listings.item_id = dated.item_id AND listings.currency = dated.currency
      AND listings.category_slug IS NOT DISTINCT FROM dated.category_slug AND listings.site_id IS NOT DISTINCT FROM dated.site_id
    JOIN patterns
      ON patterns.pattern = listings.pattern AND patterns.currency = listings.currency
      AND patterns.category_slug IS NOT DISTINCT FROM listings.category_slug AND patterns.site_id IS NOT DISTINCT FROM listings.site_id
  )
  GROUP BY pattern_key, change.period
),
-- A pattern and period: of n listings the sum of their log prices. Periods of a group without any price are left out;
-- the others are numbered.
sums AS MATERIALIZED (
  SELECT *, dense_rank() OVER (PARTITION BY key ORDER BY period) AS t, count(*) OVER (PARTITION BY pattern_key) AS m
  FROM (
    SELECT pattern_key, key, n, unnest(range(period, until)) AS period, total
    FROM (
      SELECT
        pattern_key, key, n, period,
        coalesce(lead(period) OVER in_order, period) AS until,
        sum(log_step) OVER in_order AS total,
        sum(step) OVER in_order AS present
      FROM steps
      JOIN patterns USING (pattern_key)
      WINDOW in_order AS (PARTITION BY pattern_key ORDER BY period)
    )
    WHERE present > 0
  )
),
periods AS MATERIALIZED (
  SELECT *, count(*) OVER (PARTITION BY key) AS periods
  FROM (
    SELECT key, category_slug, currency, site_id, period, t, items
    FROM (SELECT key, period, t, sum(n)::BIGINT AS items FROM sums GROUP BY ALL)
    JOIN (SELECT DISTINCT key, category_slug, currency, site_id FROM patterns) USING (key)
  )
),
prices AS MATERIALIZED (
  SELECT key, t::INTEGER AS t, pattern_key, n, total, m FROM sums
),
groups AS (
  SELECT key, any_value(periods)::INTEGER AS periods, least(any_value(periods), any_value(most_periods))::INTEGER AS width
  FROM periods, settings
  GROUP BY key
),
-- Mean log price relatives of all pairs of periods that an index needs, both ways.
pairs AS (
  SELECT one.key, one.t AS a, two.t AS b, sum(one.n)::BIGINT AS matched, sum(two.total - one.total) / (1e15 * matched) AS change
  FROM prices AS one
  JOIN prices AS two USING (key, pattern_key)
  JOIN groups USING (key)
  WHERE two.t > one.t AND (two.t - one.t < width OR one.t = 1)
  GROUP BY one.key, one.t, two.t
),
links AS MATERIALIZED (
  SELECT key, a, b, change FROM pairs
  UNION ALL
  SELECT key, b, a, -change FROM pairs
  UNION ALL
  SELECT key, t, t, 0 FROM periods
),
spans AS (
  SELECT key, width, unnest(range(width, periods + 1)) AS last_t FROM groups
),
-- GEKS in each window: the mean of all ways from its first period to t by way of k; null where there is none.
ways AS (
  SELECT spans.key, last_t, there.b AS t, avg(there.change - back.change) AS level
  FROM spans
  JOIN links AS back ON back.key = spans.key AND back.b = last_t - width + 1 AND back.a BETWEEN last_t - width + 1 AND last_t
  JOIN links AS there ON there.key = spans.key AND there.a = back.a AND there.b BETWEEN last_t - width + 1 AND last_t
  GROUP BY ALL
),
windows AS (
  SELECT key, last_t, list(level ORDER BY t) AS levels
  FROM (SELECT key, last_t, unnest(range(last_t - width + 1, last_t + 1)) AS t FROM spans)
  LEFT JOIN ways USING (key, last_t, t)
  GROUP BY key, last_t
),
-- Each window extends what is published by a period: from the mean of the distances in those that both have.
spliced AS (
  SELECT
    key,
    list_reduce(list(levels ORDER BY last_t), lambda published, next: list_append(
      published,
      next[width] + list_avg(list_transform(range(1, width), lambda l: published[len(published) - width + 1 + l] - next[l]))
    )) AS levels
  FROM windows
  JOIN groups USING (key)
  GROUP BY key, width
),
-- Time-product dummy: least squares of log price on listing and period. With the listings' means taken out, a linear
-- system of the periods is left, the first one's being zero: counts less the shared presence, and what prices are above
-- the means.
shared AS (
  SELECT one.key, one.t AS a, two.t AS b, sum(one.n / one.m) AS weight
  FROM prices AS one
  JOIN prices AS two USING (key, pattern_key)
  WHERE one.t > 1 AND two.t > 1
  GROUP BY ALL
),
means AS (
  SELECT pattern_key, sum(total) AS total FROM prices GROUP BY pattern_key
),
above AS (
  SELECT key, t, sum(n)::BIGINT AS n, sum((m * prices.total - means.total) / (1e15 * m)) AS total
  FROM prices
  JOIN means USING (pattern_key)
  WHERE t > 1
  GROUP BY key, t
),
equations AS (
  SELECT key, list(equation ORDER BY a) AS matrix, count(*) AS size
  FROM (
    SELECT
      one.key,
      one.t AS a,
      list_append(
        list(CASE WHEN one.t = two.t THEN one.n ELSE 0 END - coalesce(weight, 0) ORDER BY two.t),
        any_value(one.total)
      ) AS equation
    FROM above AS one
    JOIN above AS two USING (key)
    LEFT JOIN shared ON shared.key = one.key AND shared.a = one.t AND shared.b = two.t
    GROUP BY one.key, one.t
  )
  GROUP BY key
),
-- Gauss-Jordan elimination: a step for each equation, whose number stands in a matrix of its own.
solved AS (
  SELECT key, list_prepend(0, list_transform(matrix, lambda equation: equation[size + 1])) AS levels
  FROM (
    SELECT key, size, list_reduce(
      list_prepend(matrix, list_transform(range(1, size + 1), lambda k: [[k::DOUBLE]])),
      lambda m, step: list_transform(
        [{'k': step[1][1]::BIGINT, 'factors': m[step[1][1]::BIGINT]}],
        lambda own: list_transform(m, lambda equation, i: CASE
          WHEN i = own.k THEN list_transform(equation, lambda x: x / CASE WHEN abs(equation[own.k]) > 1e-9 THEN equation[own.k] END)
          -- A period that no listing links to the others leaves the equation as it is.
          WHEN equation[own.k] = 0 THEN equation
          ELSE list_transform(equation, lambda x, j:
            x - equation[own.k] * own.factors[j] / CASE WHEN abs(own.factors[own.k]) > 1e-9 THEN own.factors[own.k] END)
        END)
      )[1]
    ) AS matrix
    FROM equations
  )
)
SELECT
  category_slug,
  currency,
  site_id,
  sites.name AS shop,
  CASE unit
    WHEN 'month' THEN make_date((period // 12)::INTEGER, (period % 12)::INTEGER + 1, 1)
    WHEN 'week' THEN DATE '1970-01-05' + (period * 7)::INTEGER
    WHEN 'day' THEN DATE '1970-01-05' + period::INTEGER
  END AS period,
  items,
  coalesce(step.matched, 0) AS matched,
  CASE
    WHEN count(step.change) OVER so_far = periods.t - 1 THEN 100 * exp(coalesce(sum(step.change) OVER so_far, 0))
  END AS jevons,
  CASE WHEN periods.t = 1 THEN 100 ELSE 100 * exp(direct.change) END AS jevons_direct,
  100 * exp(spliced.levels[periods.t]) AS geks_jevons,
  CASE WHEN periods.periods = 1 THEN 100 ELSE 100 * exp(solved.levels[periods.t]) END AS tpd,
  sites.attribution
FROM periods
CROSS JOIN settings
LEFT JOIN pairs AS step ON step.key = periods.key AND step.b = periods.t AND step.a = periods.t - 1
LEFT JOIN pairs AS direct ON direct.key = periods.key AND direct.b = periods.t AND direct.a = 1
LEFT JOIN spliced ON spliced.key = periods.key
LEFT JOIN solved ON solved.key = periods.key
LEFT JOIN sites USING (site_id)
WHERE coalesce(sites.is_current, true)
WINDOW so_far AS (PARTITION BY periods.key ORDER BY periods.t)
ORDER BY category_slug, currency, site_id, period
