-- part of: availability and stock_outs
-- Whether listings were in stock, by their attributes: one row per listing and stretch of time, in microseconds (from_us
-- to to_us), with its state: in stock, on order, out of stock or unknown. known_us: when the known history begins; now_us:
-- its end. Two stretches that follow one another may have the same state. out_us: when a stretch of the product last began or
-- ended before now; null if none of its listings is out of stock now. explore makes these rows once for a version of the
-- lake, without a variable, in the order of products; so a query that reads them chooses among them again.
-- Variables:
-- · product (product): only this product
-- · site_id (site): only this shop
-- · out_after (time): only products that are out of stock now, and were not yet at this time; without an offset,
--   a time in UTC
WITH mapped_sites AS (
  SELECT DISTINCT site_id
  FROM (FROM 'product_listings.sql')
  WHERE getvariable('product') IS NULL OR product_id = getvariable('product')::VARCHAR
),
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
    coalesce(epoch_us((SELECT min(first_at) FROM (FROM 'run_clocks.sql'))), seen_us) AS known_us,
    greatest(seen_us, epoch_us((SELECT max(changed_at) FROM (FROM 'run_clocks.sql')))) AS now_us
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
  FROM (FROM 'product_listings.sql'), span
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
      FROM (FROM 'product_listings.sql')
      WHERE getvariable('out_after') IS NULL
        AND (getvariable('product') IS NULL OR product_id = getvariable('product')::VARCHAR)
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
-- Changes that list, or may tell one of the attributes: a text with an escaped character may hold any name.
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
  LEFT JOIN (SELECT site_id, list(DISTINCT string_split(name, '.')[1]) AS roots FROM names GROUP BY site_id) AS own
    USING (site_id)
  WHERE (
      kind IN ('REMOVED', 'RELISTED')
      OR contains(changes, '\') OR contains(changes, '"attributes"')
      OR len(list_filter(roots, lambda root: contains(changes, root))) > 0
    )
    AND (getvariable('product') IS NULL OR product_id = getvariable('product')::VARCHAR)
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
-- A listing without such a change has the same values at all moments: those of moment 0.
moments AS MATERIALIZED (
  SELECT item_id, nth, at_us, kind, CASE WHEN is_changed THEN nth ELSE 0 END AS value_nth
  FROM (
    SELECT item_id, 0 AS nth, seen_us AS at_us, 'NEW' AS kind FROM listings
    UNION ALL
    SELECT item_id, nth, at_us, kind
    FROM told
    WHERE kind IN ('REMOVED', 'RELISTED') OR (item_id, nth) IN (SELECT (item_id, nth) FROM changed)
  )
  LEFT JOIN (SELECT DISTINCT item_id, true AS is_changed FROM changed) AS changed_items USING (item_id)
),
-- The value of each attribute after each moment: that of the last change, or before the first one its old value.
filled AS (
  SELECT
    moments.item_id,
    site_id,
    moments.nth,
    named.name,
    last_value(CASE WHEN changed.nth IS NOT NULL THEN {'value': new_value} END IGNORE NULLS) OVER (
      PARTITION BY moments.item_id, named.name ORDER BY moments.nth) AS latest,
    first_value(CASE WHEN changed.nth IS NOT NULL THEN {'value': old_value} END IGNORE NULLS) OVER (
      PARTITION BY moments.item_id, named.name ORDER BY moments.nth ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS earliest
  FROM moments
  JOIN (SELECT DISTINCT item_id, name FROM changed) AS named ON named.item_id = moments.item_id
  JOIN listings ON listings.item_id = moments.item_id
  LEFT JOIN changed ON changed.item_id = moments.item_id AND changed.nth = moments.nth AND changed.name = named.name
),
present AS (
  SELECT
    item_id,
    site_id,
    name,
    coalesce(
      json_extract_string(attributes, '$."' || name || '"'),
      CASE WHEN contains(name, '.') THEN json_extract_string(attributes, '$."' || replace(name, '.', '"."') || '"') END
    ) AS value
  FROM listings
  JOIN names USING (site_id)
),
read_values AS (
  SELECT item_id, site_id, nth, name, CASE WHEN latest IS NOT NULL THEN latest.value ELSE earliest.value END AS value
  FROM filled
  UNION ALL
  SELECT present.item_id, site_id, value_nth AS nth, name, value
  FROM present
  ANTI JOIN changed USING (item_id, name)
  JOIN (SELECT DISTINCT item_id, value_nth FROM moments) AS at_moments USING (item_id)
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
    moments.item_id,
    product_id,
    site_id,
    at_us AS from_us,
    lead(at_us) OVER (PARTITION BY moments.item_id ORDER BY moments.nth) AS next_us,
    ended_us,
    last_value(CASE WHEN kind IN ('NEW', 'REMOVED', 'RELISTED') THEN kind END IGNORE NULLS) OVER (
      PARTITION BY moments.item_id ORDER BY moments.nth) AS listing,
    coalesce(availability, 'unknown') AS state
  FROM moments
  JOIN listings ON listings.item_id = moments.item_id
  LEFT JOIN states ON states.item_id = moments.item_id AND states.nth = value_nth
)
SELECT
  product_id,
  item_id,
  site_id,
  state,
  from_us,
  to_us,
  known_us,
  now_us,
  CASE WHEN bool_or(state = 'out of stock' AND to_us = now_us) OVER of_product
    THEN max(CASE WHEN to_us < now_us THEN to_us ELSE from_us END) OVER of_product END AS out_us
FROM (
  SELECT
    product_id,
    item_id,
    site_id,
    state,
    greatest(from_us, known_us) AS from_us,
    least(coalesce(next_us, now_us), coalesce(ended_us, now_us), now_us) AS to_us,
    known_us,
    now_us
  FROM sequenced, span
  WHERE listing <> 'REMOVED'
)
WHERE from_us < to_us
WINDOW of_product AS (PARTITION BY product_id)
