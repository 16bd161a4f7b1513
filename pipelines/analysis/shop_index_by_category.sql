-- Shops against the market, overall and by category: how often a shop has the lowest price among products that two or
-- more shops sell in one currency (on a tie, all of these shops count), and its price index. 100 is the median price of
-- each product; the index is a geometric mean, so half and double the price cancel out. index_p25, index_median and
-- index_p75 are the quartiles of its products. Only offers that count are compared (offers.is_counted). A row without a
-- category is the shop as a whole.
-- Variables:
-- · currency (currency): only prices in this currency
-- · min_products (whole number; default 5): only shops with this many compared products or more
-- · site_id (site): only this shop
-- · by (shop | category): only rows of a shop as a whole, or only the others
WITH lowest AS (
  SELECT product_id, currency, site_id, min(price) AS price
  FROM offers
  WHERE is_counted AND price > 0
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
  GROUP BY product_id, currency, site_id
),
compared AS (
  SELECT
    lowest.site_id,
    products.category_slug,
    products.category_name,
    lowest.price = spread.trusted_min AS is_cheapest,
    lowest.price::DOUBLE / spread.trusted_median::DOUBLE AS ratio
  FROM lowest
  JOIN price_spread AS spread USING (product_id, currency)
  JOIN products USING (product_id)
  WHERE spread.trusted_shops > 1
    AND (getvariable('category') IS NULL OR products.category_slug IN (FROM 'category_tree.sql'))
),
figures AS (
  SELECT
    category_slug,
    min(category_name) AS category_name,
    site_id,
    count(*) AS products,
    count(*) FILTER (is_cheapest) AS cheapest,
    100 * count(*) FILTER (is_cheapest) / count(*) AS win_pct,
    100 * exp(avg(ln(ratio))) AS price_index,
    100 * quantile_cont(ratio, 0.25) AS index_p25,
    100 * quantile_cont(ratio, 0.5) AS index_median,
    100 * quantile_cont(ratio, 0.75) AS index_p75,
    grouping(category_slug) = 1 AS is_total
  FROM compared
  GROUP BY GROUPING SETS ((category_slug, site_id), (site_id))
  HAVING count(*) >= coalesce(getvariable('min_products')::BIGINT, 5)
)
SELECT
  figures.category_slug,
  CASE WHEN NOT is_total THEN category_name END AS category_name,
  figures.site_id,
  sites.name AS shop,
  sites.host,
  products,
  cheapest,
  win_pct,
  price_index,
  index_p25,
  index_median,
  index_p75,
  sites.attribution
FROM figures
LEFT JOIN sites ON sites.site_id = figures.site_id AND sites.is_current
-- A product without a category counts for the shop as a whole.
WHERE (is_total OR category_slug IS NOT NULL)
  AND (getvariable('by') IS NULL OR is_total = (getvariable('by') = 'shop'))
ORDER BY is_total DESC, category_slug, win_pct DESC, figures.site_id
