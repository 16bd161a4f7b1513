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
-- Optional variables: product (product_id) · site_id · out_after (TIMESTAMPTZ: out of stock now, and not yet then) ·
-- top (100)
WITH mapped_sites AS (SELECT DISTINCT site_id FROM items WHERE product_id IS NOT NULL),
mapped AS (FROM 'mapped_attributes.sql'),
names AS (SELECT site_id, name FROM mapped WHERE meaning = 'availability'),
-- Where changes hold a value: the path of a pair, and the path within its old and new value.
places AS (
  SELECT DISTINCT name, unnest([
    {'pair': '$."' || name || '"', 'inner': '', 'nth': 1},
    {'pair': '$."attributes.' || name || '"', 'inner': '', 'nth': 2},
    {'pair': '$.attributes', 'inner': '."' || name || '"', 'nth': 3},
    {'pair': '$.attributes', 'inner': '."' || replace(name, '.', '"."') || '"', 'nth': 4},
    {'pair': '$."' || root || '"', 'inner': rest, 'nth': 5},
    {'pair': '$."attributes.' || root || '"', 'inner': rest, 'nth': 6}
  ]) AS place
  FROM (
    SELECT
      name,
      CASE WHEN contains(name, '.') THEN string_split(name, '.')[1] END AS root,
      '."' || array_to_string(string_split(name, '.')[2:], '"."') || '"' AS rest
    FROM names
  )
),
clock AS (FROM 'data_clock.sql'),
span AS MATERIALIZED (
  SELECT
    coalesce(epoch_us((SELECT min(observed_at) FROM history)), seen_us) AS known_us,
    greatest(seen_us, epoch_us((SELECT max(observed_at) FROM history))) AS now_us
  FROM clock
),
-- Products of which a listing came, went or told something since out_after: no other shop ran out.
touched AS (
  SELECT product_id
  FROM (FROM 'product_history.sql')
  WHERE observed_at > getvariable('out_after')::TIMESTAMPTZ AND kind IN ('REMOVED', 'RELISTED')
  UNION
  SELECT product_id
  FROM (FROM 'product_history.sql') AS since
  JOIN names ON names.site_id = since.site_id
  JOIN places USING (name)
  WHERE observed_at > getvariable('out_after')::TIMESTAMPTZ AND place.pair IS NOT NULL AND json_type(changes, place.pair) = 'ARRAY'
  UNION
  SELECT product_id
  FROM items, span
  WHERE first_seen_at > getvariable('out_after')::TIMESTAMPTZ
    OR removed_at > getvariable('out_after')::TIMESTAMPTZ
    OR gone_at > getvariable('out_after')::TIMESTAMPTZ
    OR known_us > epoch_us(getvariable('out_after')::TIMESTAMPTZ)
),
-- Unnested from a list, DuckDB takes them for few.
asked AS MATERIALIZED (
  SELECT unnest(ids) AS product_id
  FROM (
    SELECT list(DISTINCT product_id) AS ids
    FROM (
      SELECT product_id
      FROM items
      WHERE getvariable('out_after') IS NULL
        AND site_id IN (SELECT site_id FROM names)
        AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
      UNION ALL
      FROM touched
    )
  )
),
listings AS MATERIALIZED (
  SELECT
    item_id,
    product_id,
    site_id,
    attributes,
    epoch_us(first_seen_at) AS seen_us,
    CASE WHEN NOT is_listed THEN epoch_us(coalesce(removed_at, gone_at)) END AS ended_us
  FROM items
  WHERE product_id IN (FROM asked)
    AND (getvariable('product') IS NULL OR product_id = getvariable('product')::VARCHAR)
),
told AS MATERIALIZED (
  SELECT
    item_id,
    site_id,
    epoch_us(observed_at) AS at_us,
    kind,
    changes,
    row_number() OVER (PARTITION BY item_id ORDER BY observed_at, change_id NULLS LAST, kind) AS nth
  FROM (FROM 'product_history.sql')
  SEMI JOIN listings USING (item_id)
  WHERE kind IN ('REMOVED', 'RELISTED') OR changes IS NOT NULL
),
changed AS (
  SELECT
    item_id,
    nth,
    name,
    -- The first place that has a value.
    arg_min(json_extract_string(changes, place.pair || '[0]' || place."inner"), place.nth) AS old_value,
    arg_min(json_extract_string(changes, place.pair || '[1]' || place."inner"), place.nth) AS new_value
  FROM told
  JOIN names ON names.site_id = told.site_id
  JOIN places USING (name)
  WHERE place.pair IS NOT NULL AND json_type(changes, place.pair) = 'ARRAY'
  GROUP BY item_id, nth, name
),
moments AS (
  SELECT item_id, 0 AS nth, seen_us AS at_us, 'NEW' AS kind FROM listings
  UNION ALL
  SELECT item_id, nth, at_us, kind
  FROM told
  WHERE kind IN ('REMOVED', 'RELISTED') OR (item_id, nth) IN (SELECT (item_id, nth) FROM changed)
),
-- The value of each attribute after each moment: that of the last change, or before the first one its old value.
filled AS (
  SELECT
    item_id,
    listings.site_id,
    nth,
    name,
    attributes,
    last_value(CASE WHEN changed.nth IS NOT NULL THEN {'value': new_value} END IGNORE NULLS) OVER (
      PARTITION BY item_id, name ORDER BY moments.nth) AS latest,
    first_value(CASE WHEN changed.nth IS NOT NULL THEN {'value': old_value} END IGNORE NULLS) OVER (
      PARTITION BY item_id, name ORDER BY moments.nth ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS earliest
  FROM moments
  JOIN listings USING (item_id)
  JOIN names ON names.site_id = listings.site_id
  LEFT JOIN changed USING (item_id, nth, name)
),
read_values AS (
  SELECT
    item_id,
    site_id,
    nth,
    name,
    CASE
      WHEN latest IS NOT NULL THEN latest.value
      WHEN earliest IS NOT NULL THEN earliest.value
      ELSE coalesce(
        json_extract_string(attributes, '$."' || name || '"'),
        CASE WHEN contains(name, '.') THEN json_extract_string(attributes, '$."' || replace(name, '.', '"."') || '"') END
      )
    END AS value
  FROM filled
),
fields AS (FROM 'attribute_fields.sql'),
attribute_texts AS (SELECT item_id, site_id, nth, name, unnest(texts) AS text FROM fields),
worded AS (FROM 'availability_words.sql'),
states AS (
  SELECT item_id, nth, CASE WHEN min(availability) = max(availability) THEN min(availability) END AS availability
  FROM worded
  GROUP BY item_id, nth
),
-- Stretches of time of each listing.
sequenced AS (
  SELECT
    item_id,
    product_id,
    site_id,
    at_us AS from_us,
    lead(at_us) OVER (PARTITION BY item_id ORDER BY nth) AS next_us,
    ended_us,
    last_value(CASE WHEN kind IN ('NEW', 'REMOVED', 'RELISTED') THEN kind END IGNORE NULLS) OVER (
      PARTITION BY item_id ORDER BY nth) AS listing,
    coalesce(availability, 'unknown') AS state
  FROM moments
  JOIN listings USING (item_id)
  LEFT JOIN states USING (item_id, nth)
),
runs AS MATERIALIZED (
  SELECT
    product_id,
    site_id,
    state,
    greatest(from_us, known_us) AS from_us,
    least(coalesce(next_us, now_us), coalesce(ended_us, now_us), now_us) AS to_us
  FROM sequenced, span
  WHERE listing <> 'REMOVED'
    AND greatest(from_us, known_us) < least(coalesce(next_us, now_us), coalesce(ended_us, now_us), now_us)
),
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
)
SELECT
  product_id,
  products.title,
  site_id,
  coalesce(shops.name, site_id::VARCHAR) AS shop,
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
LEFT JOIN (SELECT product_id, title FROM products) AS products USING (product_id)
LEFT JOIN (SELECT site_id, name FROM sites WHERE is_current) AS shops USING (site_id)
WHERE known_us > 0 AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
  AND (getvariable('out_after') IS NULL OR since_us > epoch_us(getvariable('out_after')::TIMESTAMPTZ))
ORDER BY out_days DESC, product_id, site_id
LIMIT coalesce(getvariable('top')::BIGINT, 100)
