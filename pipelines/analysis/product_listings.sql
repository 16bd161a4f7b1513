-- part of: offers, movers, price_leaders, availability, listing_stock and assortment_gaps
-- The listings of products, without attributes and the columns that only pages of their shops have. explore makes these
-- rows once for a version of the lake, in the order of products, so that those of one are read alone.
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
