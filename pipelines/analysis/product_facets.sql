-- part of: explore
-- How many products have each value of a filter of find_products, the most frequent first: one row per facet and value.
-- facet: all (one row), currency, brand (ignoring case), category (without its subcategories), grade, in_stock or
-- site_id; products: number of products in a currency that match the variables.
-- Variables:
-- · facet (all | currency | brand | category | grade | in_stock | site_id): only this facet
-- · top (whole number; default 100): values of each facet
WITH found AS MATERIALIZED (
  SELECT currency, brand, lower(brand) AS same_brand, category_slug, category_name, grade, in_stock_shops > 0 AS is_in_stock, sites
  FROM (FROM 'matching_products.sql')
),
counted AS (
  SELECT
    CASE
      WHEN grouping(currency) = 0 THEN 'currency'
      WHEN grouping(same_brand) = 0 THEN 'brand'
      WHEN grouping(category_slug) = 0 THEN 'category'
      WHEN grouping(grade) = 0 THEN 'grade'
      WHEN grouping(is_in_stock) = 0 THEN 'in_stock'
      ELSE 'all'
    END AS facet,
    coalesce(currency, same_brand, category_slug, grade, is_in_stock::VARCHAR) AS value,
    CASE WHEN grouping(same_brand) = 0 THEN max(brand) WHEN grouping(category_slug) = 0 THEN min(category_name) END AS label,
    count(*) AS products
  FROM found
  GROUP BY GROUPING SETS ((), (currency), (same_brand), (category_slug), (grade), (is_in_stock))
  UNION ALL
  SELECT 'site_id', site_id::VARCHAR, NULL, count(*)
  FROM (SELECT unnest(sites) AS site_id FROM found)
  GROUP BY site_id
)
SELECT facet, value, coalesce(label, sites.name, value) AS label, products
FROM counted
LEFT JOIN sites ON facet = 'site_id' AND sites.site_id = try_cast(value AS BIGINT) AND sites.is_current
WHERE (value IS NOT NULL OR facet = 'all') AND facet = coalesce(getvariable('facet'), facet)
QUALIFY row_number() OVER (PARTITION BY facet ORDER BY products DESC, value) <= coalesce(getvariable('top')::BIGINT, 100)
ORDER BY facet, products DESC, value
