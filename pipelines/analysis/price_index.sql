-- How the price level changed from period to period, without weights: only prices of the same listing are compared. One
-- row per group and period; the group's first period is 100. jevons: chained matched-model Jevons; jevons_direct:
-- matched-model Jevons against the first period only; geks_jevons: GEKS over matched Jevons in a rolling window,
-- extended by a splice on the published index; tpd: time-product dummy, one regression over all periods; spliced_tpd:
-- the same in windows as those of geks_jevons. items and shops: number with a price; matched: items that also had a
-- price in the previous period, and matched_pct: their percentage of the items of both periods; imputed: items whose
-- missing price was imputed. time_zone is the zone of these shops' days.
-- Source: Consumer Price Index Manual (IMF and others, 2020), chapters 6, 8 and 10; Eurostat, Guide on Multilateral
-- Methods in the HICP (2022); ONS, Consumer Prices Indices Technical Manual; mean splice: Diewert and Fox, Substitution
-- Bias in Multilateral Methods for CPI Construction, Journal of Business and Economic Statistics 40 (2022); fbew: Lamboray,
-- The Geary Khamis Index and the Lehr Index, Statistics Luxembourg (2017); window splice: Krsinich (2016); half: de Haan
-- (2015).
-- Exact: items, shops, matched, imputed. The indices are doubles; equal to pyindexnum within 1e-9.
-- Limits: quantities are unknown, so each listing has the same weight (weighted_index has weights). Suspect prices are
-- left out (price_spells). The last period may be incomplete. Listings that were gone before the lake began are
-- missing. If no listing links a period to earlier periods, the index is null from that period on. Each new period
-- repeats the regression, so tpd values get revised; its time grows with the cube of the number of periods, so limit it
-- with since. The other indices are revised only within the first window.
-- Variables:
-- · methods (any of jevons, geks_jevons, tpd, spliced_tpd; default jevons, geks_jevons, tpd): the indices to compute
-- · impute (none | carry | overall; default none): the price of a listing during a gap: none, its last price, or its last
--   price adjusted by the mean change of the others
-- · impute_periods (whole number from 1; default 2): maximum number of periods in a gap
WITH row_zones AS (FROM 'row_zones.sql'),
settings AS MATERIALIZED (FROM 'index_settings.sql'),
listings AS MATERIALIZED (FROM 'index_listings.sql'),
groups AS MATERIALIZED (FROM 'index_groups.sql'),
series AS MATERIALIZED (FROM 'index_series.sql'),
period_prices AS MATERIALIZED (FROM 'period_prices.sql'),
heads AS (FROM 'index_heads.sql'),
patterns AS MATERIALIZED (FROM 'index_patterns.sql'),
pattern_sums AS MATERIALIZED (FROM 'index_sums.sql'),
first_periods AS (
  SELECT key, min(period) AS first_period FROM pattern_sums GROUP BY key
),
-- t numbers the group's periods, starting at 1.
sums AS MATERIALIZED (
  SELECT key, pattern_key, (period - first_period + 1)::INTEGER AS t, n, total FROM pattern_sums JOIN first_periods USING (key)
),
periods AS MATERIALIZED (
  SELECT key, t, (first_period + t - 1)::BIGINT AS period, items, lag(t) OVER (PARTITION BY key ORDER BY t) AS t_before
  FROM (SELECT key, t, sum(n)::BIGINT AS items FROM sums GROUP BY key, t)
  JOIN first_periods USING (key)
),
-- The previous period is found first, so that DuckDB joins by item and period, not by period alone.
observed AS MATERIALIZED (
  SELECT sums.*, t_before
  FROM sums
  JOIN (SELECT key, t, t_before FROM periods) AS known USING (key, t)
),
shops AS (
  SELECT key, t, count(DISTINCT shop_id) AS shops
  FROM observed
  JOIN (SELECT DISTINCT pattern_key, shop_id FROM patterns) AS present USING (pattern_key)
  GROUP BY key, t
),
-- Prices that are missing temporarily, each with its last known price, for each period in which the group has prices.
gaps AS MATERIALIZED (
  SELECT ended.key, pattern_key, periods.t, periods.t_before, n, ended.t AS last_t, total AS last_total
  FROM (
    SELECT * EXCLUDE (t_before), coalesce(lead(t) OVER (PARTITION BY pattern_key ORDER BY t), 2147483647) AS next_t
    FROM observed
    WHERE coalesce(getvariable('impute')::VARCHAR, 'none') <> 'none'
  ) AS ended
  JOIN periods
    ON periods.key = ended.key AND periods.t > ended.t AND periods.t < next_t
    AND periods.t <= ended.t + coalesce(getvariable('impute_periods')::INTEGER, 2)
),
-- The chained index that imputes missing prices: in each period, the mean change of all known prices. A returning price
-- is compared with its previously imputed price.
matched AS MATERIALIZED (
  SELECT now.key, now.t, sum(now.n)::BIGINT AS n, sum(now.total - before.total) AS move
  FROM observed AS now
  JOIN observed AS before ON before.pattern_key = now.pattern_key AND before.t = now.t_before
  GROUP BY now.key, now.t
),
returned AS (
  SELECT now.key, now.t, gaps.last_t, sum(now.n)::BIGINT AS n, sum(now.total - gaps.last_total) AS move
  FROM observed AS now
  JOIN gaps ON gaps.pattern_key = now.pattern_key AND gaps.t = now.t_before
  WHERE getvariable('impute') = 'overall'
  GROUP BY now.key, now.t, gaps.last_t
),
overall AS (
  SELECT key, list_reduce(
    list_prepend([0::DOUBLE], list(step ORDER BY t)),
    lambda chain, step: list_append(chain, chain[len(chain)] + (step[1] - coalesce(list_sum(list_transform(
      range(2, len(step), 2), lambda i: step[i] * (chain[len(chain)] - chain[step[i + 1]::BIGINT]))), 0)) / nullif(step[len(step)], 0))
  ) AS chain
  FROM (
    SELECT
      key,
      t,
      list_concat([coalesce(any_value(matched.move), 0) / 1e15 + coalesce(sum(returned.move), 0) / 1e15],
        flatten(coalesce(list([returned.n::DOUBLE, last_places.place::DOUBLE] ORDER BY last_t) FILTER (last_t IS NOT NULL), [])),
        [(coalesce(any_value(matched.n), 0) + coalesce(sum(returned.n), 0))::DOUBLE]) AS step
    FROM periods
    LEFT JOIN matched USING (key, t)
    LEFT JOIN returned USING (key, t)
    LEFT JOIN (SELECT key, t AS last_t, row_number() OVER (PARTITION BY key ORDER BY t) AS place FROM periods) AS last_places
      USING (key, last_t)
    WHERE t_before IS NOT NULL AND getvariable('impute') = 'overall'
    GROUP BY key, t
  )
  GROUP BY key
),
overall_levels AS (
  SELECT key, t, chain[place] AS level
  FROM overall
  JOIN (SELECT key, t, row_number() OVER (PARTITION BY key ORDER BY t) AS place FROM periods) AS places USING (key)
),
prices AS MATERIALIZED (
  SELECT key, pattern_key, t, t_before, n, total FROM observed
  UNION ALL
  SELECT key, pattern_key, t, t_before, n, last_total FROM gaps WHERE getvariable('impute') = 'carry'
  UNION ALL
  SELECT gaps.key, pattern_key, gaps.t, gaps.t_before, n, last_total + round(n * 1e15 * (now.level - before.level))::HUGEINT
  FROM gaps
  JOIN overall_levels AS now ON now.key = gaps.key AND now.t = gaps.t
  JOIN overall_levels AS before ON before.key = gaps.key AND before.t = last_t
  WHERE getvariable('impute') = 'overall' AND now.level - before.level IS NOT NULL
),
imputed AS (
  SELECT key, t, sum(n)::BIGINT AS imputed FROM gaps GROUP BY key, t
),
-- The mean log price relatives for all pairs of periods that an index needs.
pairs AS MATERIALIZED (
  SELECT one.key, one.t AS a, two.t AS b, sum(two.total - one.total) / (1e15 * sum(one.n)) AS change
  FROM prices AS one
  JOIN prices AS two USING (key, pattern_key)
  WHERE two.t > one.t
    AND (two.t - one.t < coalesce(getvariable('window_periods')::BIGINT, 25) OR one.t = 1 OR one.t = two.t_before
      OR coalesce(getvariable('splice') = 'fbew', false))
  GROUP BY one.key, one.t, two.t
),
links AS MATERIALIZED (
  SELECT key, a, b, change FROM pairs
  UNION ALL
  SELECT key, b, a, -change FROM pairs
  UNION ALL
  SELECT key, t, t, 0 FROM periods
),
spans AS MATERIALIZED (FROM 'index_spans.sql'),
geks AS (
  WITH window_levels AS MATERIALIZED (FROM 'geks_windows.sql'),
  levels AS (FROM 'spliced_levels.sql')
  SELECT key, t, level FROM levels WHERE contains(coalesce(getvariable('methods')::VARCHAR, 'geks_jevons'), 'geks_jevons')
),
whole_tpd AS (
  WITH spans AS (SELECT key, 1 AS first_t, max(t) AS last_t, 1 AS base_t FROM periods GROUP BY key),
  levels AS (FROM 'tpd_windows.sql')
  SELECT key, t, level
  FROM levels
  WHERE regexp_matches(coalesce(getvariable('methods')::VARCHAR, 'tpd'), '(^|[ ,])tpd')
),
spliced_tpd AS (
  WITH window_levels AS MATERIALIZED (FROM 'tpd_windows.sql'),
  levels AS (FROM 'spliced_levels.sql')
  SELECT key, t, level FROM levels WHERE contains(coalesce(getvariable('methods')::VARCHAR, ''), 'spliced_tpd')
)
SELECT
  category_slug,
  groups.currency,
  groups.site_id,
  sites.name AS shop,
  product_group AS product_id,
  item_group AS item_id,
  brand,
  dataset,
  region,
  CASE unit
    WHEN 'month' THEN make_date((periods.period // 12)::INTEGER, (periods.period % 12)::INTEGER + 1, 1)
    WHEN 'week' THEN DATE '1970-01-05' + (periods.period * 7)::INTEGER
    WHEN 'day' THEN DATE '1970-01-05' + periods.period::INTEGER
  END AS period,
  periods.items,
  shops.shops,
  coalesce(matched.n, 0) AS matched,
  100 * coalesce(matched.n, 0) / (periods.items + coalesce(before.items, 0) - coalesce(matched.n, 0)) AS matched_pct,
  coalesce(imputed, 0) AS imputed,
  CASE
    WHEN count(step.change) OVER so_far = row_number() OVER so_far - 1 THEN 100 * exp(coalesce(sum(step.change) OVER so_far, 0))
  END AS jevons,
  CASE WHEN periods.t = 1 THEN 100 ELSE 100 * exp(direct.change) END AS jevons_direct,
  100 * exp(geks.level) AS geks_jevons,
  100 * exp(whole_tpd.level) AS tpd,
  100 * exp(spliced_tpd.level) AS spliced_tpd,
  row_zones.time_zone,
  sites.attribution
FROM periods
JOIN groups ON groups.key = periods.key
CROSS JOIN settings
LEFT JOIN shops ON shops.key = periods.key AND shops.t = periods.t
LEFT JOIN matched ON matched.key = periods.key AND matched.t = periods.t
LEFT JOIN imputed ON imputed.key = periods.key AND imputed.t = periods.t
LEFT JOIN periods AS before ON before.key = periods.key AND before.t = periods.t_before
LEFT JOIN pairs AS step ON step.key = periods.key AND step.b = periods.t AND step.a = periods.t_before
LEFT JOIN pairs AS direct ON direct.key = periods.key AND direct.b = periods.t AND direct.a = 1
LEFT JOIN geks ON geks.key = periods.key AND geks.t = periods.t
LEFT JOIN whole_tpd ON whole_tpd.key = periods.key AND whole_tpd.t = periods.t
LEFT JOIN spliced_tpd ON spliced_tpd.key = periods.key AND spliced_tpd.t = periods.t
LEFT JOIN sites ON sites.site_id = groups.site_id
LEFT JOIN row_zones
  ON row_zones.site_id IS NOT DISTINCT FROM coalesce(groups.site_id, getvariable('site_id')::BIGINT)
WHERE coalesce(sites.is_current, true)
WINDOW so_far AS (PARTITION BY periods.key ORDER BY periods.t)
ORDER BY category_slug, groups.currency, groups.site_id, product_group, item_group, brand, dataset, region, period
