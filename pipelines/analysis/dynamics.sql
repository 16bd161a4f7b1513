-- How often prices change, by how much, and how long they last: one row per category or shop. frequency_pct: price
-- changes in percent of listing-days on which a price could change; implied_days: the length of a price spell implied
-- by this frequency, -1 / ln(1 - frequency). increases and decreases are counted, with their median and mean size in log
-- points (100 * ln(new / old)), and complete_spells, with their median and mean length in days. Spells that began before
-- the first known change (began_unknown), that are current, or that ended with the listing (cut_off) are counted, but
-- left out of the lengths. synchronisation_pct: if a shop changes the price of a product in a week, the share of the
-- product's other shops that also do so in that week, averaged over changes. time_zone is the zone of these shops'
-- days.
-- Source: Gorodnichenko, Sheremirov and Talavera, Price Setting in Online Markets: Does IT Click?, Journal of the
-- European Economic Association 16 (2018); Nakamura and Steinsson, Five Facts about Prices, Quarterly Journal of
-- Economics 123 (2008).
-- Exact: counts, and lengths as intervals before they are divided. Everything else is a double.
-- Limits: complete spells tend to be short, because a limited period cuts off long spells more often; compare
-- implied_days. Sales count as changes (see sales). Suspect prices, and changes to and from them, are left out
-- (price_spells).
-- Variables:
-- · by (category | shop; default category): what each row covers
-- · currency (currency): only prices in this currency
-- · since (day; default the last 90 closed days): first day
-- · until (day; default the last closed day): last day
WITH row_zones AS (FROM 'row_zones.sql'),
span AS (
  SELECT
    coalesce(getvariable('until')::DATE, last_day) AS until_day,
    coalesce(getvariable('since')::DATE, until_day - 89) AS since_day
  FROM (SELECT seen_day - 1 AS last_day FROM (FROM 'data_clock.sql'))
),
spells AS MATERIALIZED (
  SELECT
    item_id, product_id, site_id, currency, price, from_at, to_at, from_day, to_day, began,
    CASE WHEN coalesce(getvariable('by'), 'category') = 'category' THEN category_slug END AS category_slug,
    CASE WHEN getvariable('by') = 'shop' THEN site_id END AS group_site_id,
    since_day, until_day,
    -- Only a change without a gap counts: after a gap, the price belongs to a new listing.
    CASE WHEN from_day BETWEEN since_day AND until_day THEN price_before END AS old_price,
    began IS NOT NULL AND coalesce(ended = 'CHANGED' AND to_day <= until_day, false) AS is_complete
  FROM price_spells, span
  WHERE coalesce(to_day >= since_day, true) AND from_day <= until_day AND NOT is_suspect
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (getvariable('category') IS NULL OR category_slug IN (FROM 'category_tree.sql'))
),
figures AS (
  SELECT
    category_slug, group_site_id, currency,
    count(DISTINCT item_id) AS listings,
    sum(greatest(0, date_diff('day', greatest(from_day, since_day), least(coalesce(to_day, until_day + 1), until_day + 1))))::BIGINT AS listing_days,
    count(old_price) AS changes,
    count(*) FILTER (price > old_price) AS increases,
    count(*) FILTER (price < old_price) AS decreases,
    median(100 * ln(price::DOUBLE / old_price::DOUBLE)) FILTER (price > old_price) AS median_increase,
    avg(100 * ln(price::DOUBLE / old_price::DOUBLE)) FILTER (price > old_price) AS mean_increase,
    median(100 * ln(price::DOUBLE / old_price::DOUBLE)) FILTER (price < old_price) AS median_decrease,
    avg(100 * ln(price::DOUBLE / old_price::DOUBLE)) FILTER (price < old_price) AS mean_decrease,
    count(*) FILTER (is_complete) AS complete_spells,
    count(*) FILTER (began IS NULL) AS began_unknown,
    count(*) FILTER (began IS NOT NULL AND NOT is_complete) AS cut_off,
    median(epoch_us(to_at) - epoch_us(from_at)) FILTER (is_complete) / 86400000000 AS median_days,
    avg(epoch_us(to_at) - epoch_us(from_at)) FILTER (is_complete) / 86400000000 AS mean_days
  FROM spells
  GROUP BY category_slug, group_site_id, currency
),
-- Products that several shops sell.
pairs AS MATERIALIZED (
  SELECT row_number() OVER () AS pair, product_id, currency
  FROM spells
  WHERE product_id IS NOT NULL
  GROUP BY product_id, currency
  HAVING min(site_id) <> max(site_id)
),
-- Weeks that start on Monday.
shared_spells AS MATERIALIZED (
  SELECT
    pair, site_id, category_slug, group_site_id, currency,
    (greatest(from_day, since_day) - DATE '1970-01-05')::BIGINT // 7 AS first_week,
    (least(coalesce(to_day, until_day), until_day) - DATE '1970-01-05')::BIGINT // 7 AS last_week,
    old_price <> price AS is_change
  FROM spells
  JOIN pairs USING (product_id, currency)
),
changed AS MATERIALIZED (
  SELECT DISTINCT category_slug, group_site_id, currency, pair, site_id, first_week AS week FROM shared_spells WHERE is_change
),
-- Weeks in which a shop sold a product, as bits in words of 62 weeks.
sold AS (
  SELECT
    pair, site_id, word,
    bit_or(((1::BIGINT << (least(last_week, word * 62 + 61) - greatest(first_week, word * 62) + 1)::INTEGER) - 1)
      << (greatest(first_week, word * 62) - word * 62)::INTEGER) AS weeks
  FROM (
    SELECT pair, site_id, first_week, last_week, unnest(range(first_week // 62, last_week // 62 + 1)) AS word FROM shared_spells
  )
  GROUP BY pair, site_id, word
),
movers AS (
  SELECT pair, week, week // 62 AS word, count(DISTINCT site_id) AS movers FROM changed GROUP BY pair, week
),
sellers AS (
  SELECT pair, week, any_value(movers) AS movers, count(*) AS sellers
  FROM movers
  JOIN sold USING (pair, word)
  WHERE weeks & (1::BIGINT << (week % 62)::INTEGER) > 0
  GROUP BY pair, week
),
together AS (
  SELECT category_slug, group_site_id, currency, count(*) AS shared_changes, avg(100 * (movers - 1) / (sellers - 1)) AS synchronisation_pct
  FROM changed
  JOIN sellers USING (pair, week)
  WHERE sellers > 1
  GROUP BY category_slug, group_site_id, currency
)
SELECT
  figures.category_slug,
  figures.group_site_id AS site_id,
  sites.name AS shop,
  figures.currency,
  listings,
  listing_days,
  changes,
  100 * changes / nullif(listing_days, 0) AS frequency_pct,
  CASE WHEN changes < listing_days AND changes > 0 THEN -1 / ln(1 - changes / listing_days) END AS implied_days,
  increases,
  median_increase,
  mean_increase,
  decreases,
  median_decrease,
  mean_decrease,
  complete_spells,
  began_unknown,
  cut_off,
  median_days,
  mean_days,
  coalesce(shared_changes, 0) AS shared_changes,
  synchronisation_pct,
  row_zones.time_zone,
  sites.attribution
FROM figures
LEFT JOIN together
  ON together.category_slug IS NOT DISTINCT FROM figures.category_slug
  AND together.group_site_id IS NOT DISTINCT FROM figures.group_site_id AND together.currency = figures.currency
LEFT JOIN sites ON sites.site_id = figures.group_site_id AND sites.is_current
LEFT JOIN row_zones ON row_zones.site_id IS NOT DISTINCT FROM figures.group_site_id
ORDER BY changes DESC, figures.category_slug, figures.group_site_id, figures.currency
