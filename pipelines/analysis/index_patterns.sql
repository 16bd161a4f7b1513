-- part of: price indices
-- One row per series, with its pattern. Series with prices in the same periods share a pattern, so that their prices
-- are added up before periods are compared. Reads period_prices and heads (index_heads.sql). A group's pattern has one
-- bit per period, or is the series itself if there are more periods than bits.
WITH bounds AS (
  SELECT min(period) AS first_bound, max(period) AS last_bound FROM period_prices
),
presence AS (
  SELECT
    series,
    CASE WHEN any_value(last_bound - first_bound) < 124
      THEN coalesce(bit_or(CASE WHEN period - first_bound < 62 THEN 1::BIGINT << least(period - first_bound, 61)::INTEGER END), 0)
      ELSE series
    END AS early,
    CASE WHEN any_value(last_bound - first_bound) BETWEEN 62 AND 123
      THEN bit_or(CASE WHEN period - first_bound >= 62 THEN 1::BIGINT << least(period - first_bound - 62, 61)::INTEGER END)
    END AS late
  FROM period_prices
  CROSS JOIN bounds
  GROUP BY series
)
SELECT series, key, currency, shop_id, dense_rank() OVER (ORDER BY key, early, late) AS pattern_key
FROM presence
JOIN heads USING (series)
