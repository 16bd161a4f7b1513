-- How long listings last, by Kaplan and Meier: one row per age in days at which listings ended. survival: the share of
-- listings still listed at that age; std_error: by Greenwood; at_risk: listings observed at that age; ended: listings
-- that ended at it. A lifetime lasts from when the listing was first seen to its removal, including absences of up to
-- gap_days. Listings still listed on the last day are censored: they last at least that long. time_zone is the zone of
-- the shops' days.
-- Source: Kaplan and Meier, Nonparametric Estimation from Incomplete Observations, Journal of the American Statistical
-- Association 53 (1958); late entry: Klein and Moeschberger, Survival Analysis (2003), chapter 4.6.
-- Exact: counts and ages in whole days. survival and std_error are doubles.
-- Limits: a listing that was first seen before the lake's first change counts only from its age at that time, because
-- the lake lacks listings that had ended by then. Listings from a shop's first day are of unknown age; they are left
-- out unless with_first is true. A product under a new address is a new listing. A removal in the last gap_days counts
-- as an end, although the listing may come back.
-- Variables:
-- · gap_days (whole number; default 7): the longest absence that doesn't end a listing
-- · with_first (true or false; default false): count listings of a shop's first day
-- · site_id (site): only this shop
WITH row_zones AS (FROM 'row_zones.sql'),
span AS (
  SELECT
    seen_day AS last_day,
    (SELECT min(observed_at) FROM history) AS first_at,
    coalesce(getvariable('gap_days')::INTEGER, 7) AS gap_days
  FROM (FROM 'data_clock.sql')
),
spells AS (
  SELECT
    item_id, site_id, from_day, to_day, time_zone, gap_days,
    CASE
      WHEN time_zone = 'UTC' THEN DATE '1970-01-01' + (epoch_us(ended_before) // 86400000000)::INTEGER
      ELSE (ended_before AT TIME ZONE time_zone)::DATE
    END AS day_before
  FROM price_spells, span
  WHERE getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT
),
shops AS (
  SELECT site_id, shop_day, (first_at AT TIME ZONE time_zone)::DATE AS first_day
  FROM (SELECT site_id, min(from_day) AS shop_day, any_value(time_zone) AS time_zone FROM spells GROUP BY site_id)
  CROSS JOIN span
),
first_lives AS (
  SELECT
    item_id,
    site_id,
    min(from_day) AS born_day,
    coalesce(
      min(day_before) FILTER (date_diff('day', day_before, from_day) > gap_days),
      CASE WHEN count(to_day) = count(*) THEN max(to_day) END
    ) AS end_day
  FROM spells
  GROUP BY item_id, site_id
),
lives AS MATERIALIZED (
  SELECT
    greatest(0, date_diff('day', born_day, first_day)) AS entry_age,
    date_diff('day', born_day, coalesce(end_day, last_day)) AS exit_age,
    end_day IS NOT NULL AS has_ended
  FROM first_lives
  JOIN shops USING (site_id)
  CROSS JOIN span
  WHERE (born_day > shop_day OR coalesce(getvariable('with_first')::BOOLEAN, false))
    AND (born_day >= first_day OR coalesce(end_day, last_day) > first_day)
    AND (
      getvariable('category') IS NULL
      OR item_id IN (SELECT item_id FROM items WHERE category_slug IN (FROM 'category_tree.sql'))
    )
),
-- A listing is at risk at an age if it entered at birth or at a lower age, and hadn't left before that age.
moves AS (
  SELECT age, sum(ended)::BIGINT AS ended, sum(entered)::BIGINT AS entered, sum(left_by)::BIGINT AS left_by
  FROM (
    SELECT exit_age AS age, has_ended::INTEGER AS ended, 0 AS entered, 1 AS left_by FROM lives
    UNION ALL
    SELECT entry_age, 0, 1, 0 FROM lives
  )
  GROUP BY age
),
at_ages AS (
  SELECT
    age,
    ended,
    left_by - ended AS censored,
    -- A late entrant wasn't observed at the start of its entry age. Listings observed from birth count at age 0.
    (sum(entered) OVER (ORDER BY age) - CASE WHEN age > 0 THEN entered ELSE 0 END
      - (sum(left_by) OVER (ORDER BY age) - left_by))::BIGINT AS at_risk
  FROM moves
)
SELECT
  age AS age_days,
  at_risk,
  ended,
  censored,
  product(1 - ended / at_risk) OVER so_far AS survival,
  survival * sqrt(sum(ended / (at_risk * nullif(at_risk - ended, 0))) OVER so_far) AS std_error,
  row_zones.time_zone
FROM at_ages
JOIN row_zones ON row_zones.site_id IS NOT DISTINCT FROM getvariable('site_id')::BIGINT
WHERE ended > 0
WINDOW so_far AS (ORDER BY age)
ORDER BY age
