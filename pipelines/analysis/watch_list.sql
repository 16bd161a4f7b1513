-- part of: watch
-- Your own prices against the shops that sell the same product: one row for each line of watch_list (line, product,
-- product_id, currency, price, lowest, highest, reason). Only prices that count are compared (offers.is_counted): the
-- lowest of each shop. left_out lists the other prices, cheapest first, with shop and reason. A shop at the same price
-- is neither above nor below. position is 1 if no shop is cheaper. undercut_since and below_since: since when at least
-- one shop has been below your price, or below your lowest allowed price. below_first is the first of these shops, even
-- if it no longer is below; below_followed are the others in order. The columns ending in _known are false if that
-- price is older than the first known change. in_stock_cheapest and delivered_cheapest are the lowest in-stock price
-- and the lowest delivered price among the compared ones, each with its shop; null if no attribute says. alarms is the
-- number of shops below your lowest allowed price by a price that counts, and sure_alarms of those that are sure
-- (watch_alarms.sql). alarm is sure or unsure, null without alarms; unsure_because has each unsure one, cheapest first.
-- Exact: prices, gap and median (half away from zero at the fourth decimal). Percentages are doubles.
WITH priced AS MATERIALIZED (FROM 'watch_priced.sql'),
asked AS MATERIALIZED (
  SELECT product_id, currency, site_id, min(price) AS price
  FROM priced
  WHERE is_counted
  GROUP BY product_id, currency, site_id
),
-- Stock and delivery of the compared prices, by their attributes (docs/concepts/attributes.md).
told_prices AS (
  SELECT
    product_id,
    currency,
    arg_min({'site_id': site_id, 'price': price}, (price, site_id)) FILTER (availability = 'in stock') AS in_stock,
    arg_min({'site_id': site_id, 'price': delivered_price}, (delivered_price, site_id)) FILTER (delivered_price IS NOT NULL) AS delivered
  FROM priced
  WHERE is_counted
  GROUP BY product_id, currency
),
names AS (
  SELECT site_id, name, attribution FROM sites WHERE is_current
),
-- A duplicate is left out, because a cheaper listing of the same shop is compared instead.
excluded AS MATERIALIZED (
  SELECT * FROM priced WHERE NOT is_counted AND findings <> ['duplicate']
),
excluded_texts AS (
  SELECT
    product_id,
    currency,
    list(price || ' ' || coalesce(name, site_id::VARCHAR) || ': ' || reason ORDER BY price, item_id) AS left_out
  FROM excluded
  LEFT JOIN names USING (site_id)
  GROUP BY product_id, currency
),
known_products AS (
  SELECT DISTINCT product_id FROM items WHERE product_id IN (SELECT product_id FROM watch_list)
),
currencies AS (
  SELECT
    product_id,
    list_sort(list(DISTINCT currency)) AS listed_in,
    list_sort(list(DISTINCT currency) FILTER (is_counted)) AS counted_in,
    coalesce(counted_in, listed_in) AS currencies
  FROM priced
  GROUP BY product_id
),
watched AS MATERIALIZED (
  SELECT
    watch_list.* EXCLUDE (currency, reason),
    coalesce(watch_list.currency, CASE WHEN len(currencies) = 1 THEN currencies[1] END) AS currency,
    CASE
      WHEN watch_list.reason IS NOT NULL THEN watch_list.reason
      WHEN known_products.product_id IS NULL THEN 'no listing of this product'
      WHEN currencies IS NULL THEN 'no shop lists it now'
      WHEN watch_list.currency IS NULL AND len(currencies) > 1
        THEN 'sold in ' || array_to_string(currencies, ', ') || ': give a currency'
      WHEN NOT list_contains(listed_in, watch_list.currency)
        THEN 'sold in ' || array_to_string(currencies, ', ') || ' alone'
      WHEN NOT coalesce(list_contains(counted_in, coalesce(watch_list.currency, currencies[1])), false)
        THEN 'no price counts: see left_out'
    END AS reason
  FROM watch_list
  LEFT JOIN known_products USING (product_id)
  LEFT JOIN currencies USING (product_id)
),
market AS (
  SELECT
    line,
    count(*) AS shops,
    list_sort(list(asked.price)) AS prices,
    arg_min({'site_id': site_id, 'price': asked.price}, (asked.price, site_id)) AS cheapest,
    count(*) FILTER (asked.price < watched.price) AS undercut_shops,
    count(*) FILTER (asked.price < lowest) AS below_shops,
    count(*) FILTER (asked.price > highest) AS above_shops
  FROM watched
  JOIN asked USING (product_id, currency)
  WHERE reason IS NULL
  GROUP BY line
),
alarmed AS (
  SELECT
    line,
    count(*) AS alarms,
    count(*) FILTER (doubt IS NULL) AS sure_alarms,
    list(price || ' ' || coalesce(name, site_id::VARCHAR) || ': ' || doubt ORDER BY price, site_id) FILTER (doubt IS NOT NULL) AS unsure_because
  FROM (FROM 'watch_alarms.sql')
  LEFT JOIN names USING (site_id)
  GROUP BY line
),
bounds AS (
  SELECT line, product_id, currency, 'undercut' AS kind, price AS bound FROM watched WHERE reason IS NULL
  UNION ALL
  SELECT line, product_id, currency, 'below', lowest FROM watched WHERE reason IS NULL AND lowest IS NOT NULL
),
-- Shows the current episode.
episodes AS MATERIALIZED (FROM 'watch_episodes.sql'),
standing AS (
  SELECT line, kind, site_id, min(from_us) AS from_us, max(to_us) = 9223372036854775807 AS is_now, arg_min(is_known, from_us) AS is_known
  FROM episodes
  SEMI JOIN (SELECT line, kind, episode FROM episodes WHERE to_us = 9223372036854775807) USING (line, kind, episode)
  GROUP BY line, kind, site_id
),
told AS (
  SELECT
    line,
    list(coalesce(name, site_id::VARCHAR) ORDER BY from_us, site_id) FILTER (kind = 'undercut' AND is_now) AS undercut_by,
    list(make_timestamptz(from_us) ORDER BY from_us, site_id) FILTER (kind = 'undercut' AND is_now) AS undercut_by_since,
    min(from_us) FILTER (kind = 'undercut') AS undercut_us,
    arg_min(is_known, (from_us, site_id)) FILTER (kind = 'undercut') AS undercut_since_known,
    list(coalesce(name, site_id::VARCHAR) ORDER BY from_us, site_id) FILTER (kind = 'below') AS below_by,
    list(make_timestamptz(from_us) ORDER BY from_us, site_id) FILTER (kind = 'below') AS below_by_since,
    list(coalesce(name, site_id::VARCHAR) ORDER BY from_us, site_id) FILTER (kind = 'below' AND is_now) AS below_now,
    min(from_us) FILTER (kind = 'below') AS below_us,
    arg_min(is_known, (from_us, site_id)) FILTER (kind = 'below') AS below_since_known
  FROM standing
  LEFT JOIN names USING (site_id)
  GROUP BY line
),
credited AS (
  SELECT line, list_sort(list(DISTINCT attribution)) AS attribution
  FROM watched
  JOIN priced USING (product_id, currency)
  JOIN names USING (site_id)
  WHERE attribution IS NOT NULL
  GROUP BY line
)
SELECT
  line,
  watched.product,
  watched.product_id,
  products.title,
  watched.currency,
  watched.price,
  watched.lowest,
  watched.highest,
  reason IS NULL AS is_matched,
  reason,
  coalesce(shops, 0) AS shops,
  CASE WHEN reason IS NULL THEN 1 + undercut_shops END AS position,
  cheapest.price AS cheapest,
  coalesce(names.name, cheapest.site_id::VARCHAR) AS cheapest_shop,
  (((prices[(shops + 1) // 2]::DECIMAL(23, 4) * 10000)::HUGEINT + (prices[shops // 2 + 1]::DECIMAL(23, 4) * 10000)::HUGEINT + 1) // 2)::BIGINT
    * 0.0001::DECIMAL(18, 4) AS median,
  watched.price - cheapest.price AS gap,
  100 * (watched.price - cheapest.price)::DOUBLE / cheapest.price::DOUBLE AS gap_pct,
  undercut_shops,
  coalesce(undercut_by, []) AS undercut_by,
  coalesce(undercut_by_since, []) AS undercut_by_since,
  make_timestamptz(undercut_us) AS undercut_since,
  undercut_since_known,
  below_shops,
  coalesce(below_now, []) AS below_now,
  below_by[1] AS below_first,
  make_timestamptz(below_us) AS below_since,
  below_since_known,
  coalesce(below_by[2:], []) AS below_followed,
  coalesce(below_by_since[2:], []) AS below_followed_at,
  CASE WHEN reason IS NULL THEN coalesce(alarms, 0) END AS alarms,
  CASE WHEN reason IS NULL THEN coalesce(sure_alarms, 0) END AS sure_alarms,
  CASE WHEN sure_alarms > 0 THEN 'sure' WHEN alarms > 0 THEN 'unsure' END AS alarm,
  coalesce(unsure_because, []) AS unsure_because,
  above_shops,
  coalesce(left_out, []) AS left_out,
  coalesce(credited.attribution, []) AS attribution,
  CASE WHEN reason IS NULL THEN in_stock.price END AS in_stock_cheapest,
  CASE WHEN reason IS NULL THEN coalesce(in_stock_names.name, in_stock.site_id::VARCHAR) END AS in_stock_shop,
  CASE WHEN reason IS NULL THEN delivered.price END AS delivered_cheapest,
  CASE WHEN reason IS NULL THEN coalesce(delivered_names.name, delivered.site_id::VARCHAR) END AS delivered_shop
FROM watched
LEFT JOIN market USING (line)
LEFT JOIN alarmed USING (line)
LEFT JOIN told USING (line)
LEFT JOIN credited USING (line)
LEFT JOIN excluded_texts USING (product_id, currency)
LEFT JOIN (SELECT product_id, title FROM products) AS products ON products.product_id = watched.product_id
LEFT JOIN names ON names.site_id = cheapest.site_id
LEFT JOIN told_prices USING (product_id, currency)
LEFT JOIN names AS in_stock_names ON in_stock_names.site_id = in_stock.site_id
LEFT JOIN names AS delivered_names ON delivered_names.site_id = delivered.site_id
ORDER BY line
