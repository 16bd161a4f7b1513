-- Compares the service's counts of listed items by website, category and currency (section 2, Facets) with the lake's
-- counts, one row for each value. A category's count includes its subcategories. Items that are only in datasets that
-- the key can't currently read are not counted; readable_datasets is null if the key can read all datasets.
-- needs: counted_items, landed_facets
-- values: readable_datasets VARCHAR[]
WITH RECURSIVE visible AS (
  SELECT site_id, currency, category_slug
  FROM counted_items
  WHERE is_listed
    AND (getvariable('readable_datasets') IS NULL OR coalesce(len(datasets), 0) = 0
      OR list_has_any(datasets, CAST(getvariable('readable_datasets') AS VARCHAR[])))
),
-- Pairs each category with itself and its ancestors. UNION ends the recursion even if the tree has a cycle.
above AS (
  SELECT slug, id, parent_id FROM landed_facets WHERE facet = 'category'
  UNION
  SELECT above.slug, parent.id, parent.parent_id
  FROM above
  JOIN landed_facets AS parent ON parent.facet = 'category' AND parent.id = above.parent_id
),
by_slug AS (
  SELECT category_slug AS slug, count(*) AS items FROM visible WHERE category_slug IS NOT NULL GROUP BY category_slug
),
ours AS (
  SELECT 'site' AS facet, CAST(site_id AS VARCHAR) AS id, count(*) AS items FROM visible GROUP BY site_id
  UNION ALL
  SELECT 'currency', currency, count(*) FROM visible WHERE currency IS NOT NULL GROUP BY currency
  UNION ALL
  SELECT 'category', coalesce(above.id, by_slug.slug), CAST(sum(by_slug.items) AS BIGINT)
  FROM by_slug
  LEFT JOIN above USING (slug)
  GROUP BY ALL
)
SELECT facet, id, coalesce(theirs.name, '') AS name, coalesce(theirs.items, 0) AS service, coalesce(ours.items, 0) AS lake
FROM landed_facets AS theirs
FULL JOIN ours USING (facet, id)
