-- Products whose spread opened or closed between two closed days (UTC): an earlier day, which since or since_run sets,
-- and the last one. One row for each product and currency that two or more shops sold on both days, and whose spread
-- grew (kind opened) or shrank (closed) by min_points percentage points or more; the largest change first. change: in percentage
-- points. of_kind: number of rows of the kind, including rows beyond top.
-- Source: a definition of this project.
-- Exact: days and prices. Spreads are doubles.
-- Limits: a past day is graded by its prices alone, and a row needs grade A or B on both days. Other reasons for doubt
-- are only known for today, so a row also requires that today's trusted spread (grades A and B) moved at least as far
-- in the same direction. If since is after the last closed day, it means the day before that day.
-- Variables:
-- · since (time; default a day before the last closed day): a moment before the last closed day; in UTC if it has no
--   offset
-- · since_run (run): instead, the end of this run; 0 is the first closed day
-- · min_points (number; default 5): minimum change in percentage points
-- · kind (opened | closed): only moves of this kind
-- · currency (currency): only prices in this currency
-- · top (whole number; default 100): number of rows of each kind
WITH known AS MATERIALIZED (SELECT DISTINCT day FROM (FROM 'spread_days.sql')),
last AS (SELECT max(day) AS last_day FROM known),
asked AS (
  SELECT
    last_day,
    least(
      coalesce(
        CASE WHEN getvariable('since_run')::BIGINT = 0 THEN (SELECT min(day) FROM known) END,
        getvariable('since')::TIMESTAMPTZ::DATE,
        (
          SELECT max(coalesce(caught_up_at, finished_at))::DATE
          FROM runs
          WHERE run_number = getvariable('since_run')::BIGINT
        ),
        last_day - 1
      ),
      last_day - 1
    ) AS wanted_day
  FROM last
),
days AS MATERIALIZED (
  SELECT last_day, (SELECT max(day) FROM known WHERE day <= wanted_day) AS first_day FROM asked
),
-- Each day gets its own condition, so that DuckDB skips the row groups of other days.
compared AS (
  SELECT
    product_id,
    currency,
    first_day,
    before.trusted_spread_pct AS before_pct,
    after.trusted_spread_pct AS spread_pct,
    after.trusted_min AS lowest,
    after.trusted_max AS highest,
    after.trusted_shops AS shops
  FROM (SELECT product_id, currency, trusted_spread_pct, grade, first_day FROM price_spread_daily JOIN days ON day = first_day) AS before
  JOIN (
    SELECT product_id, currency, trusted_spread_pct, grade, trusted_min, trusted_max, trusted_shops
    FROM price_spread_daily
    JOIN days ON day = last_day
  ) AS after USING (product_id, currency)
  WHERE before.grade < 'C' AND after.grade < 'C'
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
),
moved AS (
  SELECT
    *,
    spread_pct - before_pct AS change,
    CASE WHEN spread_pct > before_pct THEN 'opened' ELSE 'closed' END AS kind
  FROM compared
  WHERE abs(spread_pct - before_pct) >= coalesce(getvariable('min_points')::DOUBLE, 5)
)
SELECT
  kind,
  product_id,
  title,
  currency,
  before_pct,
  spread_pct,
  change,
  lowest,
  highest,
  shops,
  first_day AS since_day,
  'UTC' AS time_zone,
  count(*) OVER (PARTITION BY kind) AS of_kind
FROM moved
JOIN (SELECT product_id, title, category_slug FROM products) AS named USING (product_id)
JOIN (SELECT product_id, currency, trusted_spread_pct FROM price_spread WHERE grade < 'C') AS today USING (product_id, currency)
WHERE sign(change) * (trusted_spread_pct - before_pct) >= coalesce(getvariable('min_points')::DOUBLE, 5)
  AND (getvariable('kind') IS NULL OR kind = getvariable('kind'))
  AND (getvariable('category') IS NULL OR category_slug IN (FROM 'category_tree.sql'))
  AND (getvariable('brand') IS NULL AND getvariable('in_list') IS NULL
    OR product_id IN (FROM 'selected_products.sql'))
QUALIFY row_number() OVER (PARTITION BY kind ORDER BY abs(change) DESC, product_id, currency) <= coalesce(getvariable('top')::BIGINT, 100)
ORDER BY abs(change) DESC, product_id, currency
