-- What shops add to and remove from their range: one row per shop and week (starting on Monday). new, removed and
-- relisted count listings; listed is the number of listings at the end of the week's last day; entry_pct (new and
-- relisted) and exit_pct (removed) are percentages of the listings at the end of the previous week. time_zone is the
-- zone of the shop's days.
-- Source: entry and exit rates as in Cavallo, Scraped Data and Sticky Prices, Review of Economics and Statistics 100
-- (2018), and Consumer Price Index Manual (IMF and others, 2020), chapter 7.
-- Exact: all counts. Percentages are doubles.
-- Limits: new means that the service saw a listing for the first time. In the week when it first read a shop, that is
-- the shop's whole range (is_first). A product under a new address is a new listing. Listings without a price don't
-- count. Listings that ended before the lake's first change are missing.
-- Variables:
-- · weeks (whole number from 1; default 13): number of weeks, up to the current one
-- · site_id (site): only this shop
WITH row_zones AS (FROM 'row_zones.sql'),
span AS (
  SELECT
    (last_day - DATE '1970-01-05')::BIGINT // 7 AS last_week,
    last_week - coalesce(getvariable('weeks')::BIGINT, 13) + 1 AS first_week,
    last_day
  FROM (SELECT seen_day AS last_day FROM (FROM 'data_clock.sql'))
),
-- Listings that appeared and disappeared, by shop and day. A spell that starts when another one ends counts as neither.
days AS MATERIALIZED (
  SELECT site_id, day, sum(new) AS new, sum(relisted) AS relisted, sum(removed) AS removed
  FROM (
    SELECT
      site_id,
      from_day AS day,
      count(*) FILTER (ended_before IS NULL) AS new,
      count(*) FILTER (ended_before <> from_at) AS relisted,
      -count(*) FILTER (ended_before = from_at) AS removed
    FROM price_spells
    WHERE getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT
    GROUP BY site_id, from_day
    UNION ALL
    SELECT site_id, to_day, 0, 0, count(*)
    FROM price_spells
    WHERE to_day IS NOT NULL AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
    GROUP BY site_id, to_day
  )
  GROUP BY site_id, day
),
shops AS (
  SELECT site_id, (min(day) - DATE '1970-01-05')::BIGINT // 7 AS shop_week FROM days GROUP BY site_id
),
weeks AS (
  SELECT *, least(DATE '1970-01-05' + (7 * week + 6)::INTEGER, last_day) AS week_end
  FROM (
    SELECT site_id, shop_week, unnest(range(greatest(first_week - 1, shop_week), last_week + 1)) AS week, first_week, last_day
    FROM shops, span
  )
),
moves AS (
  SELECT site_id, (day - DATE '1970-01-05')::BIGINT // 7 AS week, sum(new) AS new, sum(relisted) AS relisted, sum(removed) AS removed
  FROM days
  GROUP BY ALL
),
stocks AS (
  SELECT weeks.site_id, weeks.week, coalesce(sum(new + relisted - removed), 0)::BIGINT AS listed
  FROM weeks
  LEFT JOIN days ON days.site_id = weeks.site_id AND days.day <= weeks.week_end
  GROUP BY ALL
),
figures AS (
  SELECT
    weeks.site_id,
    weeks.week,
    first_week,
    coalesce(new, 0)::BIGINT AS new,
    coalesce(relisted, 0)::BIGINT AS relisted,
    coalesce(removed, 0)::BIGINT AS removed,
    listed,
    lag(listed) OVER (PARTITION BY weeks.site_id ORDER BY weeks.week) AS listed_before,
    weeks.week = shop_week AS is_first
  FROM weeks
  JOIN stocks USING (site_id, week)
  LEFT JOIN moves USING (site_id, week)
)
SELECT
  figures.site_id,
  sites.name AS shop,
  DATE '1970-01-05' + (7 * figures.week)::INTEGER AS week,
  new,
  relisted,
  removed,
  listed,
  100 * (new + relisted) / nullif(listed_before, 0) AS entry_pct,
  100 * removed / nullif(listed_before, 0) AS exit_pct,
  is_first,
  row_zones.time_zone,
  sites.attribution
FROM figures
LEFT JOIN sites ON sites.site_id = figures.site_id AND sites.is_current
LEFT JOIN row_zones ON row_zones.site_id = figures.site_id
WHERE figures.week >= first_week
ORDER BY figures.site_id, figures.week
