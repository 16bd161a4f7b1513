-- part of: product_changes, reductions and price_leaders
-- The changes of products' listings. product_id, site_id and listing_currency are the listing's current values. explore
-- computes these rows once per version of the lake, ordered by product, so that one product's rows can be read alone.
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
