-- part of: price indices
-- The price of each series (index_series.sql) in each period, as the natural logarithm times 1e15: one row per series
-- and period in which the listing had a price. Periods are numbers: months since year 0, weeks starting on Monday, or
-- days. They begin and end in the shop's time zone. Reads series and settings (index_settings.sql).
-- Variables:
-- · price (mean | median | week | last; default mean): the price of a period: its mean or median over the time in which
--   the listing had a price, the mean of its collection week, or the price at its end
-- · collection_day (whole number from 1 to 28; default 15): the collection week of a month is the week with this day
-- · drop_pct (number from 0): leave out the last price of an ended listing if it is this many percent below the one before
-- · relaunches (none | product | url | any; default none): treat a listing and its successor as one: never, if they
--   have the same product, if they have the same address, or by any evidence in the successors analysis
WITH zone_numbers AS MATERIALIZED (
  SELECT time_zone, row_number() OVER (ORDER BY time_zone) AS zone
  FROM (SELECT DISTINCT time_zone FROM (FROM 'time_zones.sql'))
),
spans AS (
  SELECT
    series,
    zone,
    -- Multiplication in the wider type takes ten times as long.
    CASE WHEN abs(price) < 10000000000 THEN (price * 10000)::BIGINT ELSE (price::DECIMAL(23, 4) * 10000)::BIGINT END AS units,
    epoch_us(from_at) AS from_us,
    coalesce(epoch_us(to_at), 9223372036854775807) AS to_us,
    greatest(from_day, since_day) AS first_day,
    least(coalesce(to_day, until_day), until_day) AS last_day,
    unit
  FROM price_spells
  JOIN (SELECT item_id, currency, series FROM series) AS series USING (item_id, currency)
  JOIN zone_numbers USING (time_zone)
  CROSS JOIN settings
  WHERE NOT is_suspect AND from_day <= until_day AND coalesce(to_day >= since_day, true)
),
numbered AS MATERIALIZED (
  SELECT
    series, zone, units, from_us, to_us,
    CASE unit
      WHEN 'month' THEN year(first_day) * 12 + month(first_day) - 1
      WHEN 'week' THEN (first_day - DATE '1970-01-05')::BIGINT // 7
      WHEN 'day' THEN (first_day - DATE '1970-01-05')::BIGINT
    END AS first_period,
    CASE unit
      WHEN 'month' THEN year(last_day) * 12 + month(last_day) - 1
      WHEN 'week' THEN (last_day - DATE '1970-01-05')::BIGINT // 7
      WHEN 'day' THEN (last_day - DATE '1970-01-05')::BIGINT
    END AS last_period
  FROM spans
  WHERE first_day <= last_day
),
bounds AS (
  SELECT zone, min(first_period) AS first_bound, max(last_period) AS last_bound FROM numbered GROUP BY zone
),
-- The first and last day whose prices count in a period, which may be all its days, its collection week, or its last
-- day.
days AS (
  SELECT
    zone,
    period,
    since_day,
    until_day,
    CASE unit
      WHEN 'month' THEN make_date((period // 12)::INTEGER, (period % 12)::INTEGER + 1, 1)
      WHEN 'week' THEN DATE '1970-01-05' + (period * 7)::INTEGER
      WHEN 'day' THEN DATE '1970-01-05' + period::INTEGER
    END AS begins,
    CASE unit
      WHEN 'month' THEN make_date(((period + 1) // 12)::INTEGER, ((period + 1) % 12)::INTEGER + 1, 1)
      WHEN 'week' THEN DATE '1970-01-05' + (period * 7 + 7)::INTEGER
      WHEN 'day' THEN DATE '1970-01-05' + (period + 1)::INTEGER
    END AS ends,
    CASE
      WHEN unit = 'month' AND coalesce(getvariable('price')::VARCHAR, 'mean') = 'week'
        THEN begins + coalesce(getvariable('collection_day')::INTEGER, 15) - 1
    END AS collected
  FROM (SELECT zone, unnest(range(first_bound, last_bound + 1)) AS period FROM bounds)
  CROSS JOIN (SELECT unit, since_day, until_day FROM settings)
),
-- The times of local midnights. At the end of a period, the last microsecond before midnight counts.
windows AS MATERIALIZED (
  SELECT
    zone,
    period,
    CASE WHEN coalesce(getvariable('price')::VARCHAR, 'mean') = 'last' THEN end_us - 1 ELSE begin_us END AS begin_us,
    end_us
  FROM (
    SELECT
      zone,
      period,
      CASE
        WHEN time_zone = 'UTC' THEN (begin_day - DATE '1970-01-01')::BIGINT * 86400000000
        ELSE epoch_us(timezone(time_zone, begin_day::TIMESTAMP))
      END AS begin_us,
      CASE
        WHEN time_zone = 'UTC' THEN (end_day - DATE '1970-01-01')::BIGINT * 86400000000
        ELSE epoch_us(timezone(time_zone, end_day::TIMESTAMP))
      END AS end_us
    FROM (
      SELECT
        zone,
        time_zone,
        period,
        greatest(coalesce(collected - (isodow(collected) - 1)::INTEGER, begins), since_day) AS begin_day,
        least(coalesce(collected - (isodow(collected) - 8)::INTEGER, ends), until_day + 1) AS end_day
      FROM days
      JOIN zone_numbers USING (zone)
    )
  )
  WHERE begin_us < end_us
),
-- Only the first and last periods of a spell can contain other prices too; the spell fills all periods between them.
-- Prices of relaunched listings may overlap.
parts AS (
  SELECT numbered.series * 1048576 + windows.period AS place, units, least(to_us, end_us) - greatest(from_us, begin_us) AS us
  FROM (
    SELECT
      series, zone, units, from_us, to_us,
      unnest(CASE
        WHEN coalesce(getvariable('relaunches')::VARCHAR, 'none') <> 'none' THEN range(first_period, last_period + 1)
        WHEN first_period = last_period THEN [first_period]
        ELSE [first_period, last_period]
      END) AS period
    FROM numbered
  ) AS numbered
  JOIN windows ON windows.zone = numbered.zone AND windows.period = numbered.period
  WHERE to_us > begin_us AND from_us < end_us
),
-- Computed exactly, and converted to double only for the division. An unchanged price stays exact.
means AS (
  SELECT place, CASE WHEN total = lowest::HUGEINT * us THEN lowest / 10000 ELSE total::DOUBLE / (10000 * us)::DOUBLE END AS price
  FROM (
    SELECT place, min(units) AS lowest, sum(units::HUGEINT * us) AS total, sum(us) AS us
    FROM parts
    WHERE coalesce(getvariable('price')::VARCHAR, 'mean') <> 'median'
    GROUP BY place
  )
),
-- The weighted median is the lowest price for which it and all lower prices applied for half of the time.
medians AS (
  SELECT place, min(units) / 10000 AS price
  FROM (
    SELECT
      place, units,
      2 * sum(us) OVER (PARTITION BY place ORDER BY units) AS twice,
      sum(us) OVER (PARTITION BY place) AS whole
    FROM parts
    WHERE coalesce(getvariable('price')::VARCHAR, 'mean') = 'median'
  )
  WHERE twice >= whole
  GROUP BY place
),
priced AS (
  SELECT place // 1048576 AS series, place % 1048576 AS period, round(ln(price) * 1e15)::BIGINT AS log_price
  FROM (
    FROM means
    UNION ALL
    FROM medians
  )
  UNION ALL
  SELECT series, unnest(range(first_period + 1, last_period)), log_price
  FROM (
    SELECT series, first_period, last_period, round(ln(units / 10000) * 1e15)::BIGINT AS log_price
    FROM numbered
    WHERE last_period > first_period + 1 AND coalesce(getvariable('relaunches')::VARCHAR, 'none') = 'none'
  )
),
-- The last prices of series that end before the newest period, if they are far below the previous price.
dropped AS (
  SELECT series, period
  FROM (
    SELECT
      series, period, log_price,
      lag(log_price) OVER in_order AS log_before,
      lead(period) OVER in_order AS next_period,
      max(period) OVER () AS newest_period
    FROM priced
    WHERE getvariable('drop_pct') IS NOT NULL
    WINDOW in_order AS (PARTITION BY series ORDER BY period)
  )
  WHERE next_period IS NULL AND period < newest_period
    AND exp((log_price - log_before) / 1e15) <= 1 - getvariable('drop_pct')::DOUBLE / 100 + 1e-12
)
SELECT series, period, log_price
FROM priced
ANTI JOIN dropped USING (series, period)
