-- The attributes of listed items and their values: one row per name, and per name within an object (shipping.price).
-- items: listed items that have the attribute, and share_pct: their share of all listed items; shops: websites that
-- have it; types: types of its values; distinct_values; examples: the most frequent values with their number of items,
-- long text cut at 40 characters. Map attributes for availability, delivery, condition or regular price in the pipeline
-- file (docs/concepts/attributes.md).
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
  SELECT item_id, site_id, one.key AS name, one.value
  FROM (SELECT item_id, site_id, unnest(map_entries(json_transform(attributes, '"MAP(VARCHAR, JSON)"'))) AS one FROM listed)
),
inner_values AS (
  SELECT item_id, site_id, name || '.' || one.key AS name, one.value
  FROM (
    SELECT item_id, site_id, name, unnest(map_entries(json_transform(value, '"MAP(VARCHAR, JSON)"'))) AS one
    FROM outer_values
    WHERE starts_with(value::VARCHAR, '{')
  )
),
named AS MATERIALIZED (
  SELECT item_id, site_id, name, json_type(value) AS type, CASE WHEN type <> 'OBJECT' THEN left(value->>'$', 40) END AS text
  FROM (
    FROM outer_values
    UNION ALL
    FROM inner_values
  )
  WHERE type <> 'NULL'
),
counted AS (
  SELECT name, text, count(*) AS items FROM named WHERE type <> 'OBJECT' GROUP BY name, type, text
),
shown AS (
  SELECT
    name,
    count(DISTINCT text) AS distinct_values,
    min({'order': -items, 'text': text}, greatest(coalesce(getvariable('examples')::BIGINT, 5), 1)) AS first_values
  FROM counted
  GROUP BY name
),
spread AS (
  SELECT name, count(DISTINCT site_id) AS shops, list(DISTINCT type) AS types
  FROM (SELECT DISTINCT name, site_id, type FROM named)
  GROUP BY name
)
SELECT
  name,
  items,
  100 * items::DOUBLE / (SELECT count(*) FROM listed) AS share_pct,
  shops,
  list_sort(list_distinct([lower(CASE
    WHEN type IN ('UBIGINT', 'BIGINT', 'DOUBLE', 'HUGEINT') THEN 'number'
    WHEN type = 'VARCHAR' THEN 'text'
    WHEN type = 'ARRAY' THEN 'list'
    ELSE type END) FOR type IN types])) AS types,
  coalesce(distinct_values, 0) AS distinct_values,
  coalesce([one.text || ' (' || -one.order || ')' FOR one IN first_values[:coalesce(getvariable('examples')::BIGINT, 5)]], []) AS examples
FROM (SELECT name, count(DISTINCT item_id) AS items FROM named GROUP BY name)
JOIN spread USING (name)
LEFT JOIN shown USING (name)
ORDER BY items DESC, name
LIMIT coalesce(getvariable('top')::BIGINT, 100)
