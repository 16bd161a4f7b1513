-- part of: price indices
-- The windows of a multilateral index, one row each: from first_t to last_t; base_t is the first period with prices in
-- the window. Periods are counted even if they have no prices. Reads periods (key, t, period) and settings. The first
-- rolling window has the first window_periods periods; a further window ends at each later period with prices. fbew
-- windows start with the last period of the previous year and grow.
-- Variables:
-- · window_periods (whole number from 2; default 25): number of months, weeks or days in a window
-- · splice (movement | window | half | mean | fbew; default mean): where a window is linked to the published index: at its
--   last period before, its first one, the one in the middle, the mean of all, or the last one of the year before
WITH dated AS (
  SELECT
    key,
    t,
    CASE unit
      WHEN 'month' THEN period // 12
      WHEN 'week' THEN year(DATE '1970-01-05' + (period * 7 + 3)::INTEGER)
      WHEN 'day' THEN year(DATE '1970-01-05' + period::INTEGER)
    END AS year
  FROM periods
  CROSS JOIN settings
),
years AS (
  SELECT key, year, max(t) AS last_of_year FROM dated GROUP BY key, year
),
rolling AS (
  SELECT key, greatest(1, t - width + 1) AS first_t, t AS last_t
  FROM (
    SELECT key, t, width, max(CASE WHEN t <= width THEN t END) OVER (PARTITION BY key) AS first_end
    FROM periods
    CROSS JOIN (SELECT coalesce(getvariable('window_periods')::BIGINT, 25) AS width)
  )
  WHERE t >= first_end
),
growing AS (
  SELECT dated.key, coalesce(max(last_of_year), 1) AS first_t, t AS last_t
  FROM dated
  LEFT JOIN years ON years.key = dated.key AND years.year < dated.year
  GROUP BY dated.key, t
)
SELECT chosen.key, first_t, last_t, min(t) AS base_t
FROM (
  SELECT key, first_t, last_t FROM rolling WHERE coalesce(getvariable('splice')::VARCHAR, 'mean') <> 'fbew'
  UNION ALL
  SELECT key, first_t, last_t FROM growing WHERE getvariable('splice') = 'fbew'
) AS chosen
JOIN periods ON periods.key = chosen.key AND t BETWEEN first_t AND last_t
GROUP BY chosen.key, first_t, last_t
