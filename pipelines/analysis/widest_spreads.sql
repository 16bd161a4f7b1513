-- The widest price spreads, with the product's title and the names of the cheapest and the most expensive shop.
-- Variables, none of which need be set: currency · category_slugs (list) · brand, in any case · min_shops (2) ·
-- with_outliers (true; false leaves out products with a price far from all others) · top (20): so many rows
SELECT
  spread.product_id,
  products.title,
  products.brand,
  products.category_path,
  spread.currency,
  spread.offers,
  spread.shops,
  spread."min",
  spread.p25,
  spread.median,
  spread.p75,
  spread."max",
  spread.mean,
  spread.stddev,
  spread.spread,
  spread.spread_pct,
  spread.cheapest_site_id,
  cheapest.name AS cheapest_shop,
  spread.dearest_site_id,
  dearest.name AS dearest_shop,
  spread.outliers,
  spread.inlier_min,
  spread.inlier_median,
  spread.inlier_max,
  spread.inlier_mean,
  spread.inlier_spread_pct,
  spread.attribution
FROM price_spread AS spread
LEFT JOIN products USING (product_id)
LEFT JOIN sites AS cheapest ON cheapest.site_id = spread.cheapest_site_id AND cheapest.is_current
LEFT JOIN sites AS dearest ON dearest.site_id = spread.dearest_site_id AND dearest.is_current
WHERE (getvariable('currency') IS NULL OR spread.currency = getvariable('currency'))
  AND (getvariable('category_slugs') IS NULL OR list_contains(getvariable('category_slugs')::VARCHAR[], products.category_slug))
  AND (getvariable('brand') IS NULL OR lower(products.brand) = lower(getvariable('brand')::VARCHAR))
  AND spread.shops >= coalesce(getvariable('min_shops')::BIGINT, 2)
  AND (coalesce(getvariable('with_outliers')::BOOLEAN, true) OR spread.outliers = 0)
ORDER BY spread.spread_pct DESC, spread.product_id, spread.currency
LIMIT coalesce(getvariable('top')::BIGINT, 20)
