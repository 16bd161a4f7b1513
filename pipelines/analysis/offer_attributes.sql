-- part of: offer_facts
-- What shops state about offers, in attributes that the pipeline file maps (offer_rules, rule attribute;
-- docs/concepts/attributes.md) and in titles that contain words from the pipeline file (rule word). Reads offered and
-- items; returns one row for each offer with at least one known value. A value is null if no mapped attribute has it,
-- if its form isn't one of those below, or if two values contradict each other. A mapped name is an attribute or, with
-- dots, a path into one. All values of a list are read, and the fields of an object that are named in
-- attribute_fields.sql.
WITH mapped_sites AS (SELECT DISTINCT site_id FROM offered),
mapped AS MATERIALIZED (FROM 'mapped_attributes.sql'),
told_listings AS MATERIALIZED (
  SELECT item_id, site_id, currency, attributes FROM items SEMI JOIN offered USING (item_id) SEMI JOIN mapped USING (site_id)
),
read_values AS MATERIALIZED (
  SELECT
    item_id,
    site_id,
    currency,
    meaning,
    name,
    coalesce(
      json_extract_string(attributes, '$."' || name || '"'),
      CASE WHEN contains(name, '.') THEN json_extract_string(attributes, '$."' || replace(name, '.', '"."') || '"') END
    ) AS value
  FROM told_listings
  JOIN mapped USING (site_id)
),
fields AS MATERIALIZED (FROM 'attribute_fields.sql'),
attribute_texts AS (
  SELECT item_id, site_id, name, unnest(texts) AS text FROM fields WHERE meaning = 'availability'
),
worded AS (FROM 'availability_words.sql'),
available AS (
  SELECT item_id, CASE WHEN min(availability) = max(availability) THEN min(availability) END AS availability
  FROM worded
  GROUP BY item_id
),
amount_texts AS (SELECT item_id, currency, meaning, amount FROM fields WHERE meaning IN ('shipping cost', 'regular price')),
amounts AS (FROM 'attribute_amounts.sql'),
-- All amounts must be known and equal.
costs AS (
  SELECT
    item_id,
    CASE WHEN count(known_amount) FILTER (meaning = 'shipping cost') = count(*) FILTER (meaning = 'shipping cost')
      AND min(known_amount) FILTER (meaning = 'shipping cost') = max(known_amount) FILTER (meaning = 'shipping cost')
      THEN min(known_amount) FILTER (meaning = 'shipping cost') END AS shipping_cost,
    CASE WHEN count(known_amount) FILTER (meaning = 'regular price') = count(*) FILTER (meaning = 'regular price')
      AND min(known_amount) FILTER (meaning = 'regular price') = max(known_amount) FILTER (meaning = 'regular price')
      THEN min(known_amount) FILTER (meaning = 'regular price') END AS regular_price
  FROM amounts
  GROUP BY item_id
),
-- A number with or without a unit, such as 500 g, 0,5 l or 12. A mapped unit takes precedence.
contents AS (
  SELECT
    item_id,
    regexp_extract(min(amount) FILTER (meaning = 'quantity'), '^([0-9]{1,9}(?:[.,][0-9]{1,6})?) *([^0-9 ]*)$', ['number', 'unit']) AS stated,
    TRY_CAST(replace(stated['number'], ',', '.') AS DECIMAL(18, 6)) AS number,
    coalesce(min(lower(trim(amount))) FILTER (meaning = 'unit'), lower(stated['unit'])) AS unit
  FROM fields
  WHERE meaning IN ('quantity', 'unit')
  GROUP BY item_id
  HAVING count(DISTINCT amount) FILTER (meaning = 'quantity') = 1 AND count(DISTINCT amount) FILTER (meaning = 'unit') <= 1
),
-- Millionths of a kilogram, liter or meter, or of the shop's own unit.
measured AS (
  SELECT
    item_id,
    CASE WHEN unit IN ('g', 'dag', 'mg') THEN 'kg' WHEN unit IN ('ml', 'cl', 'dl') THEN 'l' WHEN unit IN ('mm', 'cm') THEN 'm' ELSE unit END AS unit,
    (number * CASE WHEN unit IN ('g', 'ml', 'mm') THEN 1000 WHEN unit IN ('dag', 'cl', 'cm') THEN 10000 WHEN unit = 'dl' THEN 100000
      WHEN unit = 'mg' THEN 1 ELSE 1000000 END)::BIGINT AS millionths
  FROM contents
  WHERE unit <> '' AND number > 0
),
own_words AS MATERIALIZED (
  SELECT meaning, regexp_replace(' ' || strip_accents(lower(text)) || ' ', '[^\p{L}\p{N}]+', ' ', 'g') AS phrase
  FROM offer_rules
  WHERE rule = 'word'
),
told_conditions AS MATERIALIZED (
  SELECT item_id, array_to_string(flatten(list(texts)), ' ; ') AS text FROM fields WHERE meaning = 'condition' GROUP BY item_id
),
-- Words match as a whole, ignoring case, accents and punctuation.
own_conditions AS (
  SELECT item_id, min(meaning) AS condition
  FROM (
    SELECT item_id, regexp_replace(' ' || strip_accents(lower(text)) || ' ', '[^\p{L}\p{N}]+', ' ', 'g') AS words
    FROM (
      FROM told_conditions
      UNION ALL
      SELECT item_id, title FROM items SEMI JOIN offered USING (item_id)
    )
  )
  JOIN own_words ON contains(words, phrase)
  GROUP BY item_id
),
-- Values of schema.org and of Google's product feeds.
conditions AS (
  SELECT
    item_id,
    CASE
      WHEN regexp_matches(text, '(?i)\brefurbished') THEN 'refurbished'
      WHEN regexp_matches(text, '(?i)\bused') THEN 'used'
      WHEN regexp_matches(text, '(?i)\b(open|damaged)') THEN 'opened'
      WHEN regexp_matches(text, '(?i)\bnew') THEN 'new'
    END AS condition
  FROM told_conditions
)
SELECT
  item_id,
  availability,
  shipping_cost,
  TRY_CAST(price + shipping_cost AS DECIMAL(18, 4)) AS delivered_price,
  regular_price,
  coalesce(conditions.condition, own_conditions.condition) AS condition,
  millionths / 1e6 AS quantity,
  unit,
  CASE WHEN price > 0 AND millionths > 0 THEN
    TRY_CAST(TRY_CAST((2000000 * (price::DECIMAL(23, 4) * 10000)::HUGEINT + millionths) // (2 * millionths) AS BIGINT) * 0.0001 AS DECIMAL(18, 4))
  END AS unit_price
FROM (SELECT item_id FROM fields UNION SELECT item_id FROM own_conditions)
JOIN (SELECT item_id, price FROM offered) AS prices USING (item_id)
LEFT JOIN available USING (item_id)
LEFT JOIN costs USING (item_id)
LEFT JOIN measured USING (item_id)
LEFT JOIN conditions USING (item_id)
LEFT JOIN own_conditions USING (item_id)
