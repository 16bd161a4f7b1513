-- Temporary price cuts and lasting ones, by shop and category. A sale is a cut after which, on the same listing, a price at or
-- above the one before the cut follows within some days; further cuts until then belong to it. A cut without that is lasting,
-- and undecided where fewer days than that have passed or the listing ended before. sales_pct: sales in percent of the cuts
-- that are decided; returned_pct: sales that ended at exactly the price before; depth: the lowest price of the sale in
-- percent below the price before; days: its length; on_sale_pct: the share of all listed time that fell on sales.
-- Source: Nakamura and Steinsson, Five Facts about Prices, Quarterly Journal of Economics 123 (2008), sale filters for
-- V-shaped cuts, asymmetric ones included.
-- Exact: counts, prices and instants; percentages, means and medians are doubles.
-- Limits: the shop's own words are not known: a cut that returns is called a sale, whether or not it was announced as one. What
-- an outlier or a wrong entry does, looks like a sale.
-- Optional variables: return_days (30) · by (shop, category, or shop and category) · currency · category
-- (slug) · since, until (DATE; 180 days up to the last closed one): cuts of these days
WITH span AS (
  SELECT
    coalesce(getvariable('until')::DATE, last_day) AS until_day,
    coalesce(getvariable('since')::DATE, until_day - 179) AS since_day,
    coalesce(getvariable('return_days')::INTEGER, 30) AS return_days,
    coalesce(getvariable('by')::VARCHAR, 'shop') AS by_what
  FROM (SELECT DATE '1970-01-01' + (epoch_us(max(last_seen_at)) // 86400000000)::INTEGER - 1 AS last_day FROM items)
),
-- Instants as microseconds; those of what still stands end with the span.
spells AS MATERIALIZED (
  SELECT
    item_id,
    currency,
    CASE WHEN contains(by_what, 'category') THEN category_slug END AS category_slug,
    CASE WHEN contains(by_what, 'shop') THEN site_id END AS site_id,
    price,
    epoch_us(from_at) AS from_us,
    coalesce(epoch_us(to_at), until_us) AS to_us,
    to_at IS NULL AS stands,
    since_us, until_us,
    return_days * 86400000000 AS return_us,
    lag(price) OVER in_order AS before_price,
    coalesce(lag(epoch_us(to_at)) OVER in_order = epoch_us(from_at) AND lag(currency) OVER in_order = currency, false) AS goes_on
  FROM price_spells
  JOIN (SELECT item_id, category_slug FROM items) USING (item_id)
  CROSS JOIN (
    SELECT
      *,
      (since_day - DATE '1970-01-01')::BIGINT * 86400000000 AS since_us,
      (until_day + 1 - DATE '1970-01-01')::BIGINT * 86400000000 AS until_us
    FROM span
  )
  WHERE (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (getvariable('category') IS NULL OR category_slug = getvariable('category'))
    AND epoch_us(from_at) < until_us
  WINDOW in_order AS (PARTITION BY item_id ORDER BY from_at)
),
-- Stretches of a listing without a gap.
stretches AS MATERIALIZED (
  SELECT *, sum((NOT goes_on)::INTEGER) OVER (PARTITION BY item_id ORDER BY from_us) AS stretch FROM spells
),
cuts AS (
  SELECT
    cut.item_id, cut.stretch, cut.currency, cut.category_slug, cut.site_id, cut.from_us AS cut_us, cut.since_us, cut.until_us,
    cut.return_us, cut.before_price,
    arg_min(later.price, later.from_us) FILTER (later.price >= cut.before_price) AS return_price,
    min(later.from_us) FILTER (later.price >= cut.before_price) AS back_us
  FROM stretches AS cut
  LEFT JOIN stretches AS later
    ON later.item_id = cut.item_id AND later.stretch = cut.stretch
    AND later.from_us > cut.from_us AND later.from_us <= cut.from_us + cut.return_us AND later.from_us < cut.until_us
  WHERE cut.goes_on AND cut.price < cut.before_price AND cut.from_us >= cut.since_us - cut.return_us
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
    count(*) FILTER (cut_us >= since_us AND return_price = before_price) AS returned_exactly,
    median(100 * (before_price - low_price)::DOUBLE / before_price::DOUBLE) FILTER (cut_us >= since_us) AS median_depth_pct,
    avg(100 * (before_price - low_price)::DOUBLE / before_price::DOUBLE) FILTER (cut_us >= since_us) AS mean_depth_pct,
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
  FROM stretches
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
  sites.attribution
FROM listed
LEFT JOIN figures
  ON figures.category_slug IS NOT DISTINCT FROM listed.category_slug
  AND figures.site_id IS NOT DISTINCT FROM listed.site_id AND figures.currency = listed.currency
LEFT JOIN sites ON sites.site_id = listed.site_id AND sites.is_current
ORDER BY cuts DESC NULLS LAST, listed.category_slug, listed.site_id, listed.currency
