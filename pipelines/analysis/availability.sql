-- Times without stock, by product and shop: how often, how long, and how often a single shop had the product. One row
-- per product and website with known availability, most days out of stock first. A shop is in stock while any of its
-- listings is, and out of stock while all of them are. known_days: time for which its state is known; stock_outs:
-- number of periods out of stock; out_days: their total time; longest_out_days: the longest. out_since: start of the
-- current period out of stock, null if there is none; out_since_known is false if it was already out of stock when the
-- known history begins. alone_times and alone_days: it was the only shop in stock, at least one other shop listed the
-- product, and all others were known not to have it.
-- Source: a definition of this project. Availability comes from attributes that the pipeline file maps
-- (docs/concepts/attributes.md). Their past values are in changes, under the attribute's name, attributes.name or
-- attributes.
-- Exact: times and counts. Days are doubles, divided once.
-- Limits: covers the time from the first known change. An attribute without changes is assumed to have had its value
-- since then. Only changes in history count. Mappings, and the product of each listing, are today's for all times.
-- Variables:
-- · top (whole number; default 100): number of rows
WITH runs AS MATERIALIZED (
  FROM (FROM 'listing_stock.sql')
  WHERE (getvariable('product') IS NULL OR product_id = getvariable('product')::VARCHAR)
    AND (
      getvariable('site_id') IS NULL
      OR product_id IN (SELECT product_id FROM (FROM 'product_listings.sql') WHERE site_id = getvariable('site_id')::BIGINT)
    )
    AND (getvariable('out_after') IS NULL OR out_us > epoch_us(getvariable('out_after')::TIMESTAMPTZ))
),
span AS (SELECT DISTINCT known_us, now_us FROM runs),
points AS (
  SELECT product_id, from_us AS at_us FROM runs
  UNION
  SELECT product_id, to_us FROM runs
),
spans AS (
  SELECT product_id, at_us AS from_us, lead(at_us) OVER (PARTITION BY product_id ORDER BY at_us) AS to_us FROM points
),
shop_states AS (
  SELECT
    product_id,
    site_id,
    spans.from_us,
    spans.to_us,
    CASE
      WHEN bool_or(state = 'in stock') THEN 'in stock'
      WHEN bool_or(state = 'unknown') THEN 'unknown'
      WHEN bool_or(state = 'on order') THEN 'on order'
      ELSE 'out of stock'
    END AS state
  FROM spans
  JOIN runs USING (product_id)
  WHERE runs.from_us <= spans.from_us AND runs.to_us >= spans.to_us
  GROUP BY product_id, site_id, spans.from_us, spans.to_us
),
marked AS (
  SELECT
    *,
    state = 'in stock'
      AND count(*) FILTER (state IN ('in stock', 'unknown')) OVER (PARTITION BY product_id, from_us) = 1
      AND count(*) OVER (PARTITION BY product_id, from_us) > 1 AS is_alone
  FROM shop_states
),
parted AS (
  SELECT
    *,
    lag(to_us) OVER in_order IS DISTINCT FROM from_us OR lag(state) OVER in_order <> state AS is_other_state,
    lag(to_us) OVER in_order IS DISTINCT FROM from_us OR lag(is_alone) OVER in_order <> is_alone AS is_other_alone
  FROM marked
  WINDOW in_order AS (PARTITION BY product_id, site_id ORDER BY from_us)
),
numbered AS MATERIALIZED (
  SELECT
    *,
    count(*) FILTER (is_other_state) OVER in_order AS state_run,
    count(*) FILTER (is_other_alone) OVER in_order AS alone_run
  FROM parted
  WINDOW in_order AS (PARTITION BY product_id, site_id ORDER BY from_us)
),
outs AS (
  SELECT product_id, site_id, min(from_us) AS from_us, max(to_us) AS to_us
  FROM numbered
  WHERE state = 'out of stock'
  GROUP BY product_id, site_id, state_run
),
out_figures AS (
  SELECT
    product_id,
    site_id,
    count(*) AS stock_outs,
    sum(to_us - from_us) AS out_us,
    max(to_us - from_us) AS longest_us,
    max(from_us) FILTER (to_us = now_us) AS since_us,
    bool_or(from_us > known_us) FILTER (to_us = now_us) AS is_since_known
  FROM outs, span
  GROUP BY product_id, site_id
),
shop_figures AS (
  SELECT
    product_id,
    site_id,
    sum(to_us - from_us) FILTER (state <> 'unknown') AS known_us,
    count(DISTINCT alone_run) FILTER (is_alone) AS alone_times,
    sum(to_us - from_us) FILTER (is_alone) AS alone_us
  FROM numbered
  GROUP BY product_id, site_id
),
chosen AS MATERIALIZED (
  SELECT
    product_id,
    site_id,
    known_us / 86400e6 AS known_days,
    coalesce(stock_outs, 0) AS stock_outs,
    coalesce(out_us, 0) / 86400e6 AS out_days,
    longest_us / 86400e6 AS longest_out_days,
    make_timestamptz(since_us) AS out_since,
    is_since_known AS out_since_known,
    alone_times,
    coalesce(alone_us, 0) / 86400e6 AS alone_days
  FROM shop_figures
  LEFT JOIN out_figures USING (product_id, site_id)
  WHERE known_us > 0 AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
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
