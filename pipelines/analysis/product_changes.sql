-- Changes of the listings of one product, the latest first: one row for each that the service told, also of listings that are
-- gone. changes has the other values that it told, as JSON text.
-- Variable: product (product_id)
-- Optional variables: top (1000)
WITH listings AS (
  SELECT item_id, site_id AS own_site_id FROM items WHERE product_id = getvariable('product')
)
SELECT
  change_id,
  observed_at,
  kind,
  own_site_id AS site_id,
  coalesce(sites.name, own_site_id::VARCHAR) AS shop,
  item_id,
  previous_price,
  price,
  currency,
  changes,
  origin,
  history.run_id,
  sites.attribution
FROM history
JOIN listings USING (item_id)
LEFT JOIN sites ON sites.site_id = own_site_id AND sites.is_current
ORDER BY observed_at DESC, change_id DESC
LIMIT coalesce(getvariable('top')::BIGINT, 1000)
