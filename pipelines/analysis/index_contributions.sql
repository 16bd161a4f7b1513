-- The contribution of each group to the change of the price level since the previous period: one row per group and
-- period. The level is the matched Jevons index of all chosen prices in a currency (price_index with by = all).
-- own_change_pct: the mean change of the group's prices; contribution: percentage points of the change; all
-- contributions of a period add up to total_change_pct; matched and share_pct: the group's prices in both periods, and
-- their share of all.
-- Source: additive contributions in logarithms, scaled by the logarithmic mean (Balk, Price and Quantity Index Numbers,
-- 2008, chapter 4).
-- Exact: matched. Everything else is a double.
-- Limits: each price has the same weight; weighted_index has contributions by your weights. An item in several datasets
-- counts once in each, and several times in the total. Suspect prices are left out (price_spells).
WITH row_zones AS (FROM 'row_zones.sql'),
settings AS MATERIALIZED (FROM 'index_settings.sql'),
listings AS MATERIALIZED (FROM 'index_listings.sql'),
groups AS MATERIALIZED (FROM 'index_groups.sql'),
series AS MATERIALIZED (FROM 'index_series.sql'),
period_prices AS MATERIALIZED (FROM 'period_prices.sql'),
heads AS (FROM 'index_heads.sql'),
patterns AS MATERIALIZED (FROM 'index_patterns.sql'),
sums AS MATERIALIZED (FROM 'index_sums.sql'),
-- Periods with prices in the currency, each with the previous period.
known_periods AS (
  SELECT currency, period, lag(period) OVER (PARTITION BY currency ORDER BY period) AS period_before
  FROM (SELECT DISTINCT currency, period FROM sums)
),
-- The previous period is found first, so that DuckDB joins by item and period, not by period alone.
wanted AS MATERIALIZED (
  SELECT sums.*, period_before
  FROM sums
  JOIN known_periods USING (currency, period)
),
moves AS (
  SELECT
    now.key, now.currency, now.period, sum(now.n)::BIGINT AS matched, sum(now.total - before.total) / 1e15 AS move
  FROM wanted AS now
  JOIN sums AS before ON before.pattern_key = now.pattern_key AND before.period = period_before
  GROUP BY now.key, now.currency, now.period
),
totals AS (
  SELECT currency, period, sum(matched) AS matched, sum(move) / sum(matched) AS change FROM moves GROUP BY currency, period
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
    WHEN 'month' THEN make_date((moves.period // 12)::INTEGER, (moves.period % 12)::INTEGER + 1, 1)
    WHEN 'week' THEN DATE '1970-01-05' + (moves.period * 7)::INTEGER
    WHEN 'day' THEN DATE '1970-01-05' + moves.period::INTEGER
  END AS period,
  moves.matched,
  100 * moves.matched / totals.matched AS share_pct,
  100 * (exp(move / moves.matched) - 1) AS own_change_pct,
  100 * move / totals.matched * CASE WHEN abs(totals.change) < 1e-12 THEN 1 ELSE (exp(totals.change) - 1) / totals.change END AS contribution,
  100 * (exp(totals.change) - 1) AS total_change_pct,
  row_zones.time_zone,
  sites.attribution
FROM moves
JOIN totals ON totals.currency = moves.currency AND totals.period = moves.period
JOIN groups ON groups.key = moves.key
CROSS JOIN settings
LEFT JOIN sites ON sites.site_id = groups.site_id
LEFT JOIN row_zones
  ON row_zones.site_id IS NOT DISTINCT FROM coalesce(groups.site_id, getvariable('site_id')::BIGINT)
WHERE coalesce(sites.is_current, true)
ORDER BY groups.currency, moves.period, abs(contribution) DESC, moves.key
