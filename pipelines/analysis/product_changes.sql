-- Changes to the listings of one product, latest first: one row per change that the service reported, including those
-- of listings that are gone. changes: the other changed values, as JSON text.
-- Variables:
-- · product (product; required): the product
-- · top (whole number; default 1000): number of rows
SELECT
  change_id,
  observed_at,
  kind,
  told.site_id,
  coalesce(sites.name, told.site_id::VARCHAR) AS shop,
  item_id,
  previous_price,
  price,
  currency,
  changes,
  origin,
  told.run_id,
  sites.attribution
FROM (FROM 'product_history.sql') AS told
LEFT JOIN sites ON sites.site_id = told.site_id AND sites.is_current
WHERE told.product_id = getvariable('product')
ORDER BY observed_at DESC, change_id DESC
LIMIT coalesce(getvariable('top')::BIGINT, 1000)
