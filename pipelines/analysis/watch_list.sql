-- part of: watch
-- Your own prices against the shops that sell the same product: one row for each line of watch_list (line, product,
-- product_id, currency, price, lowest, highest, reason). Only the lowest price of each shop counts; a shop at the same
-- price is neither above nor below. position is 1 if no shop is cheaper. undercut_since and below_since are since when
-- at least one shop has been below your price, or below your lowest allowed price. below_first is the first of these
-- shops, even if it no longer is below; below_followed are the others in order. …_known is false if that price is older
-- than the first known change.
-- Exact: prices, gap and median (half away from zero at the fourth decimal). Percentages are doubles.
-- Optional variable: own_site (site_id): your own shop, left out
WITH offers AS MATERIALIZED (
  SELECT product_id, currency, site_id, min(price) AS price
  FROM items
  WHERE is_listed AND price > 0 AND currency IS NOT NULL
    AND product_id IN (SELECT product_id FROM watch_list)
    AND (getvariable('own_site') IS NULL OR site_id <> getvariable('own_site')::BIGINT)
  GROUP BY product_id, currency, site_id
),
known_products AS (
  SELECT DISTINCT product_id FROM items WHERE product_id IN (SELECT product_id FROM watch_list)
),
currencies AS (
  SELECT product_id, list_sort(list(DISTINCT currency)) AS currencies FROM offers GROUP BY product_id
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
      WHEN NOT list_contains(currencies, coalesce(watch_list.currency, currencies[1]))
        THEN 'sold in ' || array_to_string(currencies, ', ') || ' alone'
    END AS reason
  FROM watch_list
  LEFT JOIN known_products USING (product_id)
  LEFT JOIN currencies USING (product_id)
),
market AS (
  SELECT
    line,
    count(*) AS shops,
    list_sort(list(offers.price)) AS prices,
    arg_min({'site_id': site_id, 'price': offers.price}, (offers.price, site_id)) AS cheapest,
    count(*) FILTER (offers.price < watched.price) AS undercut_shops,
    count(*) FILTER (offers.price < lowest) AS below_shops,
    count(*) FILTER (offers.price > highest) AS above_shops
  FROM watched
  JOIN offers USING (product_id, currency)
  WHERE reason IS NULL
  GROUP BY line
),
-- Shops below a bound, with begin and end in microseconds. A current one has no end.
bounds AS (
  SELECT line, product_id, currency, 'undercut' AS kind, price AS bound FROM watched WHERE reason IS NULL
  UNION ALL
  SELECT line, product_id, currency, 'below', lowest FROM watched WHERE reason IS NULL AND lowest IS NOT NULL
),
breaches AS (
  SELECT line, kind, site_id, epoch_us(from_at) AS from_us, coalesce(epoch_us(to_at), 9223372036854775807) AS to_us, began IS NOT NULL AS is_known
  FROM price_spells
  JOIN bounds USING (product_id, currency)
  WHERE price_spells.price < bound
    AND (getvariable('own_site') IS NULL OR site_id <> getvariable('own_site')::BIGINT)
),
stretches AS (
  SELECT line, kind, site_id, min(from_us) AS from_us, max(to_us) AS to_us, arg_min(is_known, from_us) AS is_known
  FROM (
    SELECT *, sum(is_apart::INTEGER) OVER (PARTITION BY line, kind, site_id ORDER BY from_us, to_us) AS stretch
    FROM (
      SELECT
        *,
        from_us > max(to_us) OVER (
          PARTITION BY line, kind, site_id ORDER BY from_us, to_us ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS is_apart
      FROM breaches
    )
  )
  GROUP BY line, kind, site_id, stretch
),
-- Stretches of all shops that overlap or touch are one episode; the current one is shown.
episodes AS (
  SELECT
    *,
    sum(is_apart::INTEGER) OVER (PARTITION BY line, kind ORDER BY from_us, site_id, to_us) AS episode
  FROM (
    SELECT
      *,
      coalesce(from_us > max(to_us) OVER (
        PARTITION BY line, kind ORDER BY from_us, site_id, to_us ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ), false) AS is_apart
    FROM stretches
  )
),
standing AS (
  SELECT line, kind, site_id, min(from_us) AS from_us, max(to_us) = 9223372036854775807 AS is_now, arg_min(is_known, from_us) AS is_known
  FROM episodes
  SEMI JOIN (SELECT line, kind, episode FROM episodes WHERE to_us = 9223372036854775807) USING (line, kind, episode)
  GROUP BY line, kind, site_id
),
names AS (
  SELECT site_id, name, attribution FROM sites WHERE is_current
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
  JOIN offers USING (product_id, currency)
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
  above_shops,
  coalesce(credited.attribution, []) AS attribution
FROM watched
LEFT JOIN market USING (line)
LEFT JOIN told USING (line)
LEFT JOIN credited USING (line)
LEFT JOIN (SELECT product_id, title FROM products) AS products ON products.product_id = watched.product_id
LEFT JOIN names ON names.site_id = cheapest.site_id
ORDER BY line
