-- part of: offers, movers, price_leaders, availability, listing_stock and assortment_gaps
-- The listings of products, without attributes and columns that are only used for the shop's pages. explore computes
-- these rows once per version of the lake, ordered by product, so that one product's rows can be read alone.
SELECT
  item_id,
  product_id,
  site_id,
  currency,
  price,
  previous_price,
  price_changed_at,
  first_seen_at,
  last_seen_at,
  removed_at,
  gone_at,
  is_listed,
  category_slug,
  title,
  url
FROM items
WHERE product_id IS NOT NULL
