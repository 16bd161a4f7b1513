-- Temporary and lasting price cuts, by shop and category. A sale is a cut after which the listing returns to the
-- previous price or a higher one within some days; further cuts until then belong to the sale. Other cuts are lasting.
-- A cut is undecided if fewer days have passed, or if the listing ended earlier. sales_pct: sales in percent of the
-- decided cuts; returned_pct: sales that ended at exactly the previous price; depth: the lowest price of the sale in
-- percent below the previous price; days: its length; on_sale_pct: the share of listed time that was on sale. time_zone: where
-- days of the row's shops begin and end.
-- Source: Nakamura and Steinsson, Five Facts about Prices, Quarterly Journal of Economics 123 (2008), sale filters for
-- V-shaped cuts, asymmetric ones included.
-- Exact: counts, prices and instants; percentages, means and medians are doubles.
-- Limits: what the shop announced is unknown: any cut that is taken back counts as a sale. Suspect prices, and changes
-- to and from them, are left out (price_spells).
-- Variables:
-- · return_days (whole number from 1; default 30): days in which the price comes back
-- · by (any of shop, category; default shop): what a row stands for, such as shop and category
-- · currency (currency): only prices in this currency
-- · since (day; default the last 180 closed days): first day of cuts
-- · until (day; default the last closed day): last day of cuts
WITH row_zones AS (FROM 'row_zones.sql'),
span AS (
  SELECT
    coalesce(getvariable('until')::DATE, last_day) AS until_day,
    coalesce(getvariable('since')::DATE, until_day - 179) AS since_day,
    coalesce(getvariable('return_days')::INTEGER, 30) AS return_days,
    coalesce(getvariable('by')::VARCHAR, 'shop') AS by_what
  FROM (SELECT seen_day - 1 AS last_day FROM (FROM 'data_clock.sql'))
),
day_starts AS (FROM 'day_starts.sql'),
-- Instants as microseconds; current prices end with the span. Spells before the first relevant cut are not read.
spells AS MATERIALIZED (
  SELECT
    item_id,
    currency,
    CASE WHEN contains(by_what, 'category') THEN category_slug END AS category_slug,
    CASE WHEN contains(by_what, 'shop') THEN site_id END AS site_id,
    price,
    price_before,
    epoch_us(from_at) AS from_us,
    coalesce(epoch_us(to_at), until_us) AS to_us,
    since_us,
    until_us,
    return_us
  FROM price_spells
  JOIN day_starts USING (time_zone)
  CROSS JOIN (SELECT by_what, return_days * 86400000000 AS return_us, since_day - return_days AS first_day FROM span)
  WHERE NOT is_suspect AND epoch_us(from_at) < until_us AND coalesce(to_day >= first_day, true)
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (getvariable('category') IS NULL OR category_slug IN (FROM 'category_tree.sql'))
),
all_cuts AS MATERIALIZED (
  FROM spells WHERE price < price_before AND from_us >= since_us - return_us
),
-- Stretches of a listing without a gap.
stretches AS MATERIALIZED (
  SELECT item_id, price, price_before, from_us, to_us, sum((price_before IS NULL)::INTEGER) OVER (PARTITION BY item_id ORDER BY from_us) AS stretch
  FROM spells
  SEMI JOIN all_cuts USING (item_id)
),
cuts AS (
  SELECT
    all_cuts.* EXCLUDE (price, to_us, from_us),
    all_cuts.from_us AS cut_us,
    cut.stretch,
    arg_min(later.price, later.from_us) AS return_price,
    min(later.from_us) AS back_us
  FROM all_cuts
  JOIN stretches AS cut USING (item_id, from_us)
  LEFT JOIN stretches AS later
    ON later.item_id = cut.item_id AND later.stretch = cut.stretch AND later.price >= cut.price_before
    AND later.from_us > cut.from_us AND later.from_us <= cut.from_us + return_us AND later.from_us < until_us
  GROUP BY ALL
),
-- A cut before the first price has returned belongs to the sale that is on.
first_cuts AS (
  SELECT *
  FROM cuts
  QUALIFY cut_us >= coalesce(
    max(back_us) OVER (PARTITION BY item_id, stretch ORDER BY cut_us ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
    cut_us
  )
),
ends AS (
  SELECT item_id, stretch, max(to_us) AS end_us FROM stretches GROUP BY item_id, stretch
),
judged AS (
  SELECT
    first_cuts.*,
    back_us IS NULL AND least(end_us, until_us) < cut_us + return_us AS is_undecided
  FROM first_cuts
  JOIN ends USING (item_id, stretch)
),
lowest AS (
  SELECT judged.item_id, judged.cut_us, min(stretches.price) AS low_price
  FROM judged
  JOIN stretches USING (item_id, stretch)
  WHERE back_us IS NOT NULL AND stretches.from_us >= judged.cut_us AND stretches.from_us < back_us
  GROUP BY judged.item_id, judged.cut_us
),
figures AS (
  SELECT
    category_slug, site_id, currency,
    count(*) FILTER (cut_us >= since_us) AS cuts,
    count(back_us) FILTER (cut_us >= since_us) AS sales,
    count(*) FILTER (cut_us >= since_us AND back_us IS NULL AND NOT is_undecided) AS lasting,
    count(*) FILTER (cut_us >= since_us AND is_undecided) AS undecided,
    count(*) FILTER (cut_us >= since_us AND return_price = price_before) AS returned_exactly,
    median(100 * (price_before - low_price)::DOUBLE / price_before::DOUBLE) FILTER (cut_us >= since_us) AS median_depth_pct,
    avg(100 * (price_before - low_price)::DOUBLE / price_before::DOUBLE) FILTER (cut_us >= since_us) AS mean_depth_pct,
    median(back_us - cut_us) FILTER (cut_us >= since_us) / 86400000000 AS median_days,
    avg(back_us - cut_us) FILTER (cut_us >= since_us) / 86400000000 AS mean_days,
    coalesce(sum(greatest(0, back_us - greatest(cut_us, since_us))), 0) AS sale_us
  FROM judged
  LEFT JOIN lowest USING (item_id, cut_us)
  GROUP BY category_slug, site_id, currency
),
listed AS (
  SELECT category_slug, site_id, currency, count(DISTINCT item_id) AS listings,
    sum(least(to_us, until_us) - greatest(from_us, since_us)) AS listed_us
  FROM spells
  WHERE to_us > since_us
  GROUP BY category_slug, site_id, currency
)
SELECT
  listed.category_slug,
  listed.site_id,
  sites.name AS shop,
  listed.currency,
  listings,
  coalesce(cuts, 0) AS cuts,
  coalesce(sales, 0) AS sales,
  coalesce(lasting, 0) AS lasting,
  coalesce(undecided, 0) AS undecided,
  100 * sales / nullif(sales + lasting, 0) AS sales_pct,
  100 * returned_exactly / nullif(sales, 0) AS returned_pct,
  median_depth_pct,
  mean_depth_pct,
  median_days,
  mean_days,
  100 * coalesce(sale_us, 0) / listed_us AS on_sale_pct,
  row_zones.time_zone,
  sites.attribution
FROM listed
LEFT JOIN figures
  ON figures.category_slug IS NOT DISTINCT FROM listed.category_slug
  AND figures.site_id IS NOT DISTINCT FROM listed.site_id AND figures.currency = listed.currency
LEFT JOIN sites ON sites.site_id = listed.site_id AND sites.is_current
LEFT JOIN row_zones ON row_zones.site_id IS NOT DISTINCT FROM listed.site_id
ORDER BY cuts DESC NULLS LAST, listed.category_slug, listed.site_id, listed.currency
