-- Which attributes do listed items have, and with which values? One row per name, and per name within an object
-- (shipping.price). items: listed items that have it, and share_pct: their share of all; shops: websites that have it;
-- types: types of the values; distinct_values; examples: the most frequent values with their number of items, long text
-- cut at 40 characters. Map attributes for availability, delivery, condition or regular price in the pipeline file
-- (docs/concepts/attributes.md).
-- Variables:
-- · site_id (site): only this shop
-- · examples (whole number; default 5): number of example values
-- · top (whole number; default 100): number of rows, most items first
WITH listed AS (
  SELECT item_id, site_id, attributes
  FROM items
  WHERE is_listed AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
),
outer_values AS (
  SELECT item_id, site_id, one.key AS name, one.type, one.value
  FROM listed, json_each(coalesce(attributes, '{}')) AS one
),
named AS (
  FROM outer_values
  UNION ALL
  SELECT item_id, site_id, name || '.' || one.key, one.type, one.value
  FROM (FROM outer_values WHERE type = 'OBJECT') AS objects, json_each(objects.value) AS one
),
counted AS (
  SELECT name, type, left(value->>'$', 40) AS text, count(*) AS items FROM named WHERE type <> 'NULL' GROUP BY ALL
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY name ORDER BY items DESC, text) AS place FROM counted WHERE type <> 'OBJECT'
),
shown AS (
  SELECT
    name,
    count(DISTINCT text) AS distinct_values,
    list(text || ' (' || items || ')' ORDER BY place) FILTER (place <= coalesce(getvariable('examples')::BIGINT, 5)) AS examples
  FROM ranked
  GROUP BY name
)
SELECT
  name,
  count(DISTINCT item_id) AS items,
  100 * count(DISTINCT item_id)::DOUBLE / (SELECT count(*) FROM listed) AS share_pct,
  count(DISTINCT site_id) AS shops,
  list_sort(list(DISTINCT lower(CASE
    WHEN type IN ('UBIGINT', 'BIGINT', 'DOUBLE', 'HUGEINT') THEN 'number'
    WHEN type = 'VARCHAR' THEN 'text'
    WHEN type = 'ARRAY' THEN 'list'
    ELSE type END))) AS types,
  coalesce(any_value(distinct_values), 0) AS distinct_values,
  coalesce(any_value(examples), []) AS examples
FROM named
LEFT JOIN shown USING (name)
WHERE type <> 'NULL'
GROUP BY name
ORDER BY items DESC, name
LIMIT coalesce(getvariable('top')::BIGINT, 100)
