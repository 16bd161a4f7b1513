-- part of: availability, stock_moves and stock_outs
-- Whether listings were in stock, according to their attributes: one row per listing and period, in microseconds
-- (from_us to to_us), with its state: in stock, on order, out of stock or unknown. known_us: when the known history
-- begins; now_us: its end. Two consecutive periods may have the same state. Reads stock_since (after_us, one row): only
-- products with a listing that was added, removed or changed its stock state after it, or all products if it is null.
-- explore computes these rows once per version of the lake, without variables and ordered by product; queries that read
-- them filter again.
-- Variables:
-- · product (product): only this product
-- · site_id (site): only products of this shop
WITH mapped_sites AS (
  SELECT DISTINCT site_id
  FROM (FROM 'product_listings.sql')
  WHERE getvariable('product') IS NULL OR product_id = getvariable('product')::VARCHAR
),
mapped AS (FROM 'mapped_attributes.sql'),
names AS MATERIALIZED (
  SELECT
    site_id,
    name,
    string_split(name, '.')[1] AS root,
    CASE WHEN contains(name, '.') THEN '."' || array_to_string(string_split(name, '.')[2:], '"."') || '"' ELSE '' END AS rest
  FROM mapped
  WHERE meaning = 'availability'
),
-- Where a change stores a value: the path of the pair, the path within its old and new value, and a text that such a
-- change contains.
places AS MATERIALIZED (
  SELECT site_id, name, place
  FROM (
    SELECT
      site_id,
      name,
      unnest([
        {'pair': '$."' || name || '"', 'inner': '', 'nth': 1, 'hint': root},
        {'pair': '$."attributes.' || name || '"', 'inner': '', 'nth': 2, 'hint': root},
        {'pair': '$.attributes', 'inner': '."' || name || '"', 'nth': 3, 'hint': '"attributes"'},
        {'pair': CASE WHEN rest <> '' THEN '$.attributes' END, 'inner': '."' || root || '"' || rest, 'nth': 4, 'hint': '"attributes"'},
        {'pair': CASE WHEN rest <> '' THEN '$."' || root || '"' END, 'inner': rest, 'nth': 5, 'hint': root},
        {'pair': CASE WHEN rest <> '' THEN '$."attributes.' || root || '"' END, 'inner': rest, 'nth': 6, 'hint': root}
      ]) AS place
    FROM names
  )
  WHERE place.pair IS NOT NULL
),
clock AS (FROM 'data_clock.sql'),
span AS MATERIALIZED (
  SELECT
    coalesce(epoch_us((SELECT min(first_at) FROM (FROM 'run_clocks.sql'))), seen_us) AS known_us,
    greatest(seen_us, epoch_us((SELECT max(changed_at) FROM (FROM 'run_clocks.sql')))) AS now_us
  FROM clock
),
roots AS MATERIALIZED (SELECT list(DISTINCT root) AS roots FROM names),
-- Changes that list an item, or that may contain one of the attributes. A text with escape sequences may contain any
-- name.
telling AS NOT MATERIALIZED (
  SELECT item_id, epoch_us(observed_at) AS at_us, change_id, kind, changes
  FROM history, roots
  WHERE (kind IN ('REMOVED', 'RELISTED') OR changes IS NOT NULL)
    AND (
      kind IN ('REMOVED', 'RELISTED')
      OR contains(changes, '\') OR contains(changes, '"attributes"')
      OR len(list_filter(roots, lambda root: contains(changes, root))) > 0
    )
),
touched AS (
  SELECT product_id
  FROM (FROM 'product_listings.sql')
  SEMI JOIN (SELECT item_id FROM telling, stock_since WHERE after_us IS NOT NULL AND at_us > after_us) AS later USING (item_id)
  UNION
  SELECT product_id
  FROM (FROM 'product_listings.sql'), stock_since, span
  WHERE after_us IS NOT NULL
    AND (epoch_us(first_seen_at) > after_us OR epoch_us(removed_at) > after_us OR epoch_us(gone_at) > after_us OR known_us > after_us)
),
-- The ids are unnested from a list, so DuckDB estimates few rows.
asked AS MATERIALIZED (
  SELECT unnest(ids) AS product_id
  FROM (
    SELECT list(DISTINCT product_id) AS ids
    FROM (
      SELECT product_id
      FROM (FROM 'product_listings.sql'), stock_since
      WHERE after_us IS NULL
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
    epoch_us(first_seen_at) AS seen_us,
    CASE WHEN NOT is_listed THEN epoch_us(coalesce(removed_at, gone_at)) END AS ended_us
  FROM items
  WHERE product_id IN (FROM asked)
    AND (getvariable('product') IS NULL OR product_id = getvariable('product')::VARCHAR)
),
told AS MATERIALIZED (
  SELECT telling.item_id, site_id, at_us, change_id, kind, changes FROM telling JOIN listings USING (item_id)
),
changed AS MATERIALIZED (
  SELECT
    item_id,
    any_value(told.site_id) AS site_id,
    at_us,
    change_id,
    kind,
    name,
    -- The first path that has a value.
    arg_min(json_extract_string(changes, place.pair || '[0]' || place."inner"), place.nth) AS old_value,
    arg_min(json_extract_string(changes, place.pair || '[1]' || place."inner"), place.nth) AS new_value
  FROM told
  JOIN places ON places.site_id = told.site_id
  WHERE CASE WHEN contains(changes, place.hint) OR contains(changes, '\') THEN json_type(changes, place.pair) END = 'ARRAY'
  GROUP BY item_id, at_us, change_id, kind, name
),
-- The current values of attributes that haven't changed.
present AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT
      item_id,
      items.site_id,
      name,
      CASE WHEN contains(attributes, root) OR contains(attributes, '\') THEN coalesce(
        json_extract_string(attributes, '$."' || name || '"'),
        CASE WHEN rest <> '' THEN json_extract_string(attributes, '$."' || root || '"' || rest) END
      ) END AS value
    FROM items
    SEMI JOIN listings USING (item_id)
    JOIN names ON names.site_id = items.site_id
  )
  ANTI JOIN changed USING (item_id, name)
  WHERE value IS NOT NULL
),
valued AS MATERIALIZED (
  SELECT *, row_number() OVER () AS value_id
  FROM (
    SELECT site_id, name, old_value AS value FROM changed
    UNION
    SELECT site_id, name, new_value FROM changed
    UNION
    SELECT site_id, name, value FROM present
  )
  WHERE value IS NOT NULL
),
read_values AS (FROM valued),
fields AS (FROM 'attribute_fields.sql'),
attribute_texts AS (SELECT value_id, site_id, name, unnest(texts) AS text FROM fields),
worded AS (FROM 'availability_words.sql'),
-- The states that a value may mean, as bits. If it may mean several, the state is unknown.
meant AS MATERIALIZED (
  SELECT site_id, name, value, bits
  FROM valued
  JOIN (
    SELECT value_id, bit_or(CASE availability WHEN 'in stock' THEN 1 WHEN 'on order' THEN 2 ELSE 4 END) AS bits
    FROM worded
    WHERE availability IS NOT NULL
    GROUP BY value_id
  ) USING (value_id)
),
steady AS MATERIALIZED (
  SELECT item_id, bit_or(bits) AS bits FROM present JOIN meant USING (site_id, name, value) GROUP BY item_id
),
-- The moments at which a listing appears, disappears or states its stock. Several events at one moment give several
-- rows.
moments AS MATERIALIZED (
  SELECT item_id, at_us, change_id, kind, NULL AS name, NULL AS old_bits, NULL AS new_bits
  FROM told
  WHERE kind IN ('REMOVED', 'RELISTED')
  UNION ALL
  SELECT item_id, at_us, change_id, kind, changed.name, coalesce(old.bits, 0), coalesce(new.bits, 0)
  FROM changed
  LEFT JOIN meant AS old ON old.site_id = changed.site_id AND old.name = changed.name AND old.value = old_value
  LEFT JOIN meant AS new ON new.site_id = changed.site_id AND new.name = changed.name AND new.value = new_value
),
-- The value of each attribute at each moment: the new value of the last change, or the old value of the first one before it.
filled AS (
  SELECT
    moments.item_id,
    at_us,
    change_id,
    kind,
    moments.name,
    row_number() OVER in_order AS nth,
    lead(at_us) OVER in_order AS next_us,
    last_value(CASE WHEN kind IN ('REMOVED', 'RELISTED') THEN kind END IGNORE NULLS) OVER in_order AS listing,
    first_value(CASE WHEN moments.name = own.name THEN old_bits END IGNORE NULLS) OVER (
      PARTITION BY moments.item_id, own.name ORDER BY at_us, change_id NULLS LAST, kind, moments.name
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS first_bits,
    last_value(CASE WHEN moments.name = own.name THEN new_bits END IGNORE NULLS) OVER in_order AS last_bits
  FROM moments
  LEFT JOIN (SELECT DISTINCT item_id, name FROM changed) AS own ON own.item_id = moments.item_id
  WINDOW in_order AS (PARTITION BY moments.item_id, own.name ORDER BY at_us, change_id NULLS LAST, kind, moments.name)
),
joined AS MATERIALIZED (
  SELECT
    item_id,
    nth,
    any_value(at_us) AS at_us,
    any_value(next_us) AS next_us,
    any_value(listing) AS listing,
    bit_or(first_bits) AS first_bits,
    bit_or(coalesce(last_bits, first_bits)) AS bits
  FROM filled
  GROUP BY item_id, nth
),
sequenced AS (
  SELECT
    listings.item_id, product_id, site_id, seen_us AS from_us, at_us AS next_us, ended_us,
    coalesce(first_bits, 0) | coalesce(steady.bits, 0) AS bits
  FROM listings
  LEFT JOIN (FROM joined WHERE nth = 1) AS firsts USING (item_id)
  LEFT JOIN steady USING (item_id)
  UNION ALL
  SELECT
    joined.item_id, product_id, site_id, at_us, next_us, ended_us,
    coalesce(joined.bits, 0) | coalesce(steady.bits, 0)
  FROM joined
  JOIN listings USING (item_id)
  LEFT JOIN steady USING (item_id)
  WHERE listing IS DISTINCT FROM 'REMOVED'
),
stretches AS (
  SELECT
    product_id,
    item_id,
    site_id,
    CASE bits WHEN 1 THEN 'in stock' WHEN 2 THEN 'on order' WHEN 4 THEN 'out of stock' ELSE 'unknown' END AS state,
    greatest(from_us, known_us) AS from_us,
    least(coalesce(next_us, now_us), coalesce(ended_us, now_us), now_us) AS to_us,
    known_us,
    now_us
  FROM sequenced, span
)
FROM stretches
WHERE from_us < to_us
