-- Out-of-stock periods by product and shop: how often, how long, and how often only one shop had the product. One row
-- per product and website with known availability, most days out of stock first. A shop is in stock while any of its
-- listings is, and out of stock while all of them are. known_days: number of days with a known state; stock_outs:
-- number of out-of-stock periods; out_days: their total length; longest_out_days: the length of the longest. out_since:
-- start of the current out-of-stock period; null if there is none; out_since_known is false if it was already out of
-- stock when the known history begins. alone_times and alone_days: number and length of the periods in which the shop
-- was the only one in stock, at least one other shop listed the product, and no other shop had it.
-- Source: a definition of this project. Availability comes from attributes that the pipeline file maps
-- (docs/concepts/attributes.md). Their past values are in changes, under the attribute's name, attributes.name or
-- attributes.
-- Exact: times and counts. Days are doubles, divided once.
-- Limits: covers the time from the first known change. An attribute without changes is assumed to have had its value
-- since then. Only changes in history count. Mappings, and the product of each listing, are today's for all times.
-- Variables:
-- · out_after (time): only products that are out of stock now but weren't at this time; a time without an offset is in
--   UTC
-- · site_id (site): only this shop
-- · top (whole number; default 100): number of rows
WITH stock_since AS NOT MATERIALIZED (SELECT epoch_us(getvariable('out_after')::TIMESTAMPTZ) AS after_us),
runs AS MATERIALIZED (
  FROM (FROM 'listing_stock.sql')
  WHERE (getvariable('product') IS NULL OR product_id = getvariable('product')::VARCHAR)
    AND (
      getvariable('site_id') IS NULL
      OR product_id IN (SELECT product_id FROM (FROM 'product_listings.sql') WHERE site_id = getvariable('site_id')::BIGINT)
    )
),
span AS (SELECT DISTINCT known_us, now_us FROM runs),
-- A shop with one listing is out of stock as long as that listing is. For several listings, the sum of their
-- out-of-stock periods is an upper bound.
bounds AS MATERIALIZED (
  SELECT
    product_id,
    min(item_id) = max(item_id) AND bool_or(state <> 'unknown') AS is_exact,
    coalesce(sum(to_us - from_us) FILTER (state = 'out of stock'), 0) AS out_us,
    bool_or(state = 'out of stock' AND to_us = now_us) AS is_out,
    max(CASE WHEN to_us < now_us THEN to_us ELSE from_us END) AS moved_us
  FROM runs
  WHERE getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT
  GROUP BY product_id, site_id
),
-- Products that may appear in the first rows.
numbers AS MATERIALIZED (
  SELECT product_id, row_number() OVER () AS product
  FROM (
    SELECT DISTINCT product_id
    FROM bounds
    CROSS JOIN (
      SELECT CASE WHEN count(*) = coalesce(getvariable('top')::BIGINT, 100) THEN min(out_us) ELSE 0 END AS least_us
      FROM (SELECT out_us FROM bounds WHERE is_exact ORDER BY out_us DESC LIMIT coalesce(getvariable('top')::BIGINT, 100))
    )
    WHERE CASE
      WHEN getvariable('out_after') IS NULL THEN out_us >= least_us
      ELSE is_out AND moved_us > epoch_us(getvariable('out_after')::TIMESTAMPTZ)
    END
  )
),
-- A shop gets the best state of its listings. The queries below then have the same number of rows as this one, no
-- matter how many shops sell a product.
listing_states AS MATERIALIZED (
  SELECT product, site_id, from_us, to_us, list_position(['in stock', 'unknown', 'on order', 'out of stock'], state) AS state
  FROM runs
  JOIN numbers USING (product_id)
),
points AS (
  SELECT product, site_id, from_us AS at_us FROM listing_states
  UNION
  SELECT product, site_id, to_us FROM listing_states
),
spans AS (
  SELECT product, site_id, at_us AS from_us, lead(at_us) OVER (PARTITION BY product, site_id ORDER BY at_us) AS to_us FROM points
),
shop_states AS (
  SELECT product, site_id, spans.from_us, spans.to_us, min(state) AS state
  FROM spans
  JOIN listing_states AS listings USING (product, site_id)
  WHERE listings.from_us <= spans.from_us AND listings.to_us >= spans.to_us
  GROUP BY product, site_id, spans.from_us, spans.to_us
),
parted AS (
  SELECT
    *,
    lag(to_us) OVER in_order IS DISTINCT FROM from_us OR lag(state) OVER in_order <> state AS is_other
  FROM shop_states
  WINDOW in_order AS (PARTITION BY product, site_id ORDER BY from_us)
),
-- Periods in which the state doesn't change.
stretches AS MATERIALIZED (
  SELECT product, site_id, state, min(from_us) AS from_us, max(to_us) AS to_us
  FROM (
    SELECT *, count(*) FILTER (is_other) OVER (PARTITION BY product, site_id ORDER BY from_us) AS run FROM parted
  )
  GROUP BY product, site_id, state, run
),
-- From each moment on, the number of shops that list a product, and of those that may have it in stock.
events AS (
  SELECT product, at_us, sum(listed) AS listed, sum(maybe) AS maybe
  FROM (
    SELECT product, from_us AS at_us, 1 AS listed, (state <= 2)::INTEGER AS maybe FROM stretches
    UNION ALL
    SELECT product, to_us, -1, -(state <= 2)::INTEGER FROM stretches
  )
  GROUP BY product, at_us
),
counted AS (
  SELECT
    product,
    at_us AS from_us,
    lead(at_us) OVER in_order AS to_us,
    sum(listed) OVER in_order AS listed,
    sum(maybe) OVER in_order AS maybe
  FROM events
  WINDOW in_order AS (PARTITION BY product ORDER BY at_us)
),
alone AS (
  SELECT product, site_id, counted.from_us, counted.to_us
  FROM counted
  JOIN stretches USING (product)
  WHERE maybe = 1 AND listed > 1
    AND state = 1 AND stretches.from_us <= counted.from_us AND stretches.to_us >= counted.to_us
),
alone_figures AS (
  SELECT product, site_id, count(*) FILTER (before_us IS DISTINCT FROM from_us) AS alone_times, sum(to_us - from_us) AS alone_us
  FROM (SELECT *, lag(to_us) OVER (PARTITION BY product, site_id ORDER BY from_us) AS before_us FROM alone)
  GROUP BY product, site_id
),
shop_figures AS (
  SELECT
    product,
    site_id,
    sum(to_us - from_us) FILTER (state <> 2) AS known_us,
    count(*) FILTER (state = 4) AS stock_outs,
    sum(to_us - from_us) FILTER (state = 4) AS out_us,
    max(to_us - from_us) FILTER (state = 4) AS longest_us,
    max(from_us) FILTER (state = 4 AND to_us = now_us) AS since_us,
    bool_or(from_us > span.known_us) FILTER (state = 4 AND to_us = now_us) AS is_since_known
  FROM stretches, span
  WHERE getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT
  GROUP BY product, site_id
),
chosen AS MATERIALIZED (
  SELECT
    product_id,
    site_id,
    known_us / 86400e6 AS known_days,
    stock_outs,
    coalesce(out_us, 0) / 86400e6 AS out_days,
    longest_us / 86400e6 AS longest_out_days,
    make_timestamptz(since_us) AS out_since,
    is_since_known AS out_since_known,
    coalesce(alone_times, 0) AS alone_times,
    coalesce(alone_us, 0) / 86400e6 AS alone_days
  FROM shop_figures
  JOIN numbers USING (product)
  LEFT JOIN alone_figures USING (product, site_id)
  WHERE known_us > 0
    AND (getvariable('out_after') IS NULL OR since_us > epoch_us(getvariable('out_after')::TIMESTAMPTZ))
  ORDER BY out_days DESC, product_id, site_id
  LIMIT coalesce(getvariable('top')::BIGINT, 100)
)
SELECT
  product_id,
  products.title,
  site_id,
  coalesce(shops.name, site_id::VARCHAR) AS shop,
  known_days,
  stock_outs,
  out_days,
  longest_out_days,
  out_since,
  out_since_known,
  alone_times,
  alone_days
FROM chosen
LEFT JOIN (SELECT product_id, title FROM products) AS products USING (product_id)
LEFT JOIN (SELECT site_id, name FROM sites WHERE is_current) AS shops USING (site_id)
ORDER BY out_days DESC, product_id, site_id
