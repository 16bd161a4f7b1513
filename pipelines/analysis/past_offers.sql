-- part of: offer_prices and price_spells
-- The listings with a known past, for known_prices and price_runs; -1 means no price.
SELECT
  item_id,
  product_id,
  site_id,
  coalesce(price, -1) AS price,
  coalesce(previous_price, -1) AS price_before,
  currency,
  price_changed_at,
  coalesce(removed_at, gone_at) AS removed_at,
  first_seen_at
FROM items
