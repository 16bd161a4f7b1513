-- part of: judged_offers
-- Facts of offers that attributes tell, where the pipeline file maps them (offer_rules, rule attribute; docs/concepts/attributes.md).
-- From priced (item_id, site_id, currency, attributes and other columns): one row for each offer with a mapped attribute.
-- availability, shipping_cost and regular_price are null if unknown: if no mapped attribute tells, if its value has another
-- form than those below, or if two values contradict each other. told_condition has the values of the mapped attributes in
-- lower case. A name is an attribute, or with points a path into one. Of a list, each value tells; of an object, the fields
-- named below.
WITH mapped_sites AS (SELECT DISTINCT site_id FROM priced),
mapped AS (FROM 'mapped_attributes.sql'),
read_values AS (
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
  FROM priced
  JOIN mapped USING (site_id)
),
fields AS (FROM 'attribute_fields.sql'),
attribute_texts AS (
  SELECT item_id, site_id, name, unnest(texts) AS text FROM fields WHERE meaning = 'availability'
),
worded AS (FROM 'availability_words.sql'),
available AS (
  SELECT item_id, CASE WHEN min(availability) = max(availability) THEN min(availability) END AS availability
  FROM worded
  GROUP BY item_id
),
conditions AS (
  SELECT item_id, list(lower(array_to_string(texts, ' '))) AS conditions FROM fields WHERE meaning = 'condition' GROUP BY item_id
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
)
SELECT item_id, availability, shipping_cost, regular_price, array_to_string(conditions, ' ') AS told_condition
FROM (SELECT DISTINCT item_id FROM read_values WHERE value IS NOT NULL)
LEFT JOIN available USING (item_id)
LEFT JOIN costs USING (item_id)
LEFT JOIN conditions USING (item_id)
