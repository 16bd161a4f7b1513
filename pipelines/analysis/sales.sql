-- Temporary and lasting price cuts, by shop and category. A sale is a cut after which the listing returns to the
-- previous price or a higher one within some days; further cuts until then belong to the sale. Other cuts are lasting.
-- A cut is undecided if fewer days have passed, or if the listing ended earlier. sales_pct: sales in percent of the
-- decided cuts; returned_pct: sales that ended at exactly the previous price; depth: the lowest price of the sale in
-- percent below the previous price; days: its length; on_sale_pct: the percentage of listed time that was on sale.
-- time_zone is the zone of these shops' days.
-- Source: Nakamura and Steinsson, Five Facts about Prices, Quarterly Journal of Economics 123 (2008), sale filters for
-- V-shaped cuts, asymmetric ones included.
-- Exact: counts, prices and instants; percentages, means and medians are doubles.
-- Limits: any cut that is reversed counts as a sale, because the data doesn't show what the shop announced. Suspect
-- prices, and changes to and from them, are left out (price_spells).
-- Variables:
-- · return_days (whole number from 1; default 30): maximum number of days until the price returns
-- · by (any of shop, category; default shop): what each row covers, such as shop and category
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
-- Converts times to microseconds since the start of the span, and ends prices with the span. Skips spells before the
-- first relevant cut.
spells AS MATERIALIZED (
  SELECT
    item_id,
    currency,
    CASE WHEN contains(by_what, 'category') THEN category_slug END AS category_slug,
    CASE WHEN contains(by_what, 'shop') THEN site_id END AS site_id,
    price,
    price_before,
    epoch_us(from_at) - since_us AS from_us,
    least(coalesce(epoch_us(to_at), until_us), until_us) - since_us AS to_us,
    ended_before IS NOT NULL AS has_before
  FROM price_spells
  JOIN day_starts USING (time_zone)
  CROSS JOIN (SELECT by_what, since_day - return_days AS first_day FROM span)
  WHERE NOT is_suspect AND epoch_us(from_at) < until_us AND coalesce(to_day >= first_day, true)
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (getvariable('category') IS NULL OR category_slug IN (FROM 'category_tree.sql'))
),
all_cuts AS MATERIALIZED (
  SELECT item_id, currency, category_slug, site_id, price_before, from_us AS cut_us, to_us, from_us + return_us AS return_us
  FROM spells
  CROSS JOIN (SELECT return_days * 86400000000 AS return_us FROM span)
  WHERE price < price_before AND from_us >= -return_us
),
-- A price after a gap, or after a suspect price, isn't compared with earlier prices.
breaks AS (
  SELECT item_id, cut_us, min(breaks.from_us) AS break_us
  FROM all_cuts
  JOIN (SELECT item_id, from_us FROM spells WHERE price_before IS NULL AND has_before) AS breaks USING (item_id)
  WHERE breaks.from_us > cut_us
  GROUP BY item_id, cut_us
),
-- For each cut, the price that ended it, and how long its listing is known, within return_days.
followed AS MATERIALIZED (
  SELECT
    cut.item_id,
    cut_us,
    arg_min(later.price, later.from_us) FILTER (later.price >= cut.price_before) AS return_price,
    min(later.from_us) FILTER (later.price >= cut.price_before) AS back_us,
    max(later.to_us) AS to_us
  FROM (
    SELECT item_id, cut_us, price_before, least(return_us, coalesce(break_us - 1, return_us)) AS last_us
    FROM all_cuts
    LEFT JOIN breaks USING (item_id, cut_us)
  ) AS cut
  JOIN spells AS later ON later.item_id = cut.item_id AND later.from_us > cut_us AND later.from_us <= last_us
  GROUP BY cut.item_id, cut_us
),
on_sale AS MATERIALIZED (
  SELECT followed.item_id, cut_us, from_us, price
  FROM followed
  JOIN spells ON spells.item_id = followed.item_id AND from_us >= cut_us AND from_us < back_us
),
lowest AS (
  SELECT item_id, cut_us, min(price) AS low_price FROM on_sale GROUP BY item_id, cut_us
),
-- A second cut before the price has returned from the first belongs to the same sale.
judged AS (
  SELECT
    cuts.* EXCLUDE (to_us, return_us),
    return_price,
    back_us,
    low_price,
    back_us IS NULL AND greatest(cuts.to_us, coalesce(followed.to_us, cuts.to_us)) < return_us AS is_undecided
  FROM all_cuts AS cuts
  ANTI JOIN (SELECT DISTINCT item_id, from_us AS cut_us FROM on_sale WHERE from_us > cut_us) AS later USING (item_id, cut_us)
  LEFT JOIN followed USING (item_id, cut_us)
  LEFT JOIN lowest USING (item_id, cut_us)
),
figures AS (
  SELECT
    category_slug, site_id, currency,
    count(*) FILTER (cut_us >= 0) AS cuts,
    count(back_us) FILTER (cut_us >= 0) AS sales,
    count(*) FILTER (cut_us >= 0 AND back_us IS NULL AND NOT is_undecided) AS lasting,
    count(*) FILTER (cut_us >= 0 AND is_undecided) AS undecided,
    count(*) FILTER (cut_us >= 0 AND return_price = price_before) AS returned_exactly,
    median(100 * (price_before - low_price)::DOUBLE / price_before::DOUBLE) FILTER (cut_us >= 0) AS median_depth_pct,
    avg(100 * (price_before - low_price)::DOUBLE / price_before::DOUBLE) FILTER (cut_us >= 0) AS mean_depth_pct,
    median(back_us - cut_us) FILTER (cut_us >= 0) / 86400000000 AS median_days,
    avg(back_us - cut_us) FILTER (cut_us >= 0) / 86400000000 AS mean_days,
    coalesce(sum(greatest(0, back_us - greatest(cut_us, 0))), 0) AS sale_us
  FROM judged
  GROUP BY category_slug, site_id, currency
),
listed AS (
  SELECT category_slug, site_id, currency, count(DISTINCT item_id) AS listings, sum(to_us - greatest(from_us, 0)) AS listed_us
  FROM spells
  WHERE to_us > 0
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
