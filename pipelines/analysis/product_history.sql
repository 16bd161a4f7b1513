-- part of: product_changes, reductions and price_leaders
-- The changes of the listings of products. product_id, site_id and listing_currency are those of the listing today. explore
-- makes these rows once for a version of the lake, in the order of products, so that those of one are read alone.
SELECT
  own.product_id,
  own.site_id,
  history.item_id,
  change_id,
  observed_at,
  kind,
  previous_price,
  price,
  history.currency,
  own.listing_currency,
  changes,
  origin,
  history.run_id
FROM history
JOIN (
  SELECT item_id, product_id, site_id, currency AS listing_currency FROM items WHERE product_id IS NOT NULL
) AS own USING (item_id)
