-- What shops take in and out: a row a shop and week (from Monday on, UTC). new, removed and relisted listings; listed: listings
-- that were listed at the end of the week's last day; entry_pct and exit_pct: new and relisted, and removed ones, in percent of
-- those listed at the end of the week before.
-- Source: entry and exit rates as in Cavallo, Scraped Data and Sticky Prices, Review of Economics and Statistics 100 (2018), and
-- Consumer Price Index Manual (IMF and others, 2020), chapter 7.
-- Exact: all counts. Percentages are doubles.
-- Limits: new is what the service saw for the first time: in the week in which it first read a shop that is the whole range (is_first
-- says so). A product under a new address is a new listing. Listings without a price are not counted. Before the
-- lake's first change, listings that were gone by then are missing.
-- Optional variables: weeks (13, up to the one under way) · site_id
WITH span AS (
  SELECT
    (last_day - DATE '1970-01-05')::BIGINT // 7 AS last_week,
    last_week - coalesce(getvariable('weeks')::BIGINT, 13) + 1 AS first_week,
    last_day
  FROM (SELECT DATE '1970-01-01' + (epoch_us(max(last_seen_at)) // 86400000000)::INTEGER AS last_day FROM items)
),
-- Stretches of a listing with a price and without a gap.
spells AS MATERIALIZED (
  SELECT
    item_id, site_id, from_day, to_day, began, ended,
    lag(to_at) OVER in_order IS NOT DISTINCT FROM from_at AS goes_on,
    lead(from_at) OVER in_order IS NOT DISTINCT FROM to_at AND to_at IS NOT NULL AS is_followed,
    row_number() OVER in_order = 1 AS is_first
  FROM price_spells
  WHERE getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT
  WINDOW in_order AS (PARTITION BY item_id ORDER BY from_at)
),
shops AS (
  SELECT site_id, (min(from_day) - DATE '1970-01-05')::BIGINT // 7 AS shop_week FROM spells GROUP BY site_id
),
weeks AS (
  SELECT
    site_id,
    shop_week,
    unnest(range(greatest(first_week - 1, shop_week), last_week + 1)) AS week,
    first_week,
    least(DATE '1970-01-05' + (7 * week + 6)::INTEGER, last_day) AS last_day
  FROM shops, span
),
moves AS (
  SELECT
    site_id,
    (day - DATE '1970-01-05')::BIGINT // 7 AS week,
    count(*) FILTER (move = 'new') AS new,
    count(*) FILTER (move = 'relisted') AS relisted,
    count(*) FILTER (move = 'removed') AS removed
  FROM (
    SELECT site_id, from_day AS day, CASE WHEN is_first THEN 'new' ELSE 'relisted' END AS move
    FROM spells
    WHERE NOT goes_on
    UNION ALL
    SELECT site_id, to_day, 'removed' FROM spells WHERE to_day IS NOT NULL AND NOT is_followed
  )
  GROUP BY ALL
),
stocks AS (
  SELECT
    weeks.site_id,
    weeks.week,
    count(spells.item_id) AS listed
  FROM weeks
  LEFT JOIN spells
    ON spells.site_id = weeks.site_id AND spells.from_day <= weeks.last_day
    AND (spells.to_day IS NULL OR spells.to_day > weeks.last_day)
  GROUP BY ALL
)
SELECT
  weeks.site_id,
  sites.name AS shop,
  DATE '1970-01-05' + (7 * weeks.week)::INTEGER AS week,
  coalesce(new, 0) AS new,
  coalesce(relisted, 0) AS relisted,
  coalesce(removed, 0) AS removed,
  listed,
  100 * (coalesce(new, 0) + coalesce(relisted, 0)) / nullif(lag(listed) OVER in_order, 0) AS entry_pct,
  100 * coalesce(removed, 0) / nullif(lag(listed) OVER in_order, 0) AS exit_pct,
  weeks.week = shop_week AS is_first,
  sites.attribution
FROM weeks
JOIN stocks USING (site_id, week)
LEFT JOIN moves USING (site_id, week)
LEFT JOIN sites ON sites.site_id = weeks.site_id AND sites.is_current
WINDOW in_order AS (PARTITION BY weeks.site_id ORDER BY weeks.week)
QUALIFY weeks.week >= first_week
ORDER BY weeks.site_id, weeks.week
