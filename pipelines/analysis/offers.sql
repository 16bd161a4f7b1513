-- The listed offers of a product, cheapest first in each currency.
-- Variables: product (product_id) · currency, which need not be set
SELECT
  items.currency,
  items.price,
  sites.name AS shop,
  items.site_id,
  items.item_id,
  items.title,
  items.previous_price,
  items.price_changed_at,
  items.first_seen_at,
  items.last_seen_at,
  items.url,
  sites.attribution
FROM items
LEFT JOIN sites ON sites.site_id = items.site_id AND sites.is_current
WHERE items.product_id = getvariable('product') AND items.is_listed
  AND (getvariable('currency') IS NULL OR items.currency = getvariable('currency'))
ORDER BY items.currency NULLS LAST, items.price NULLS LAST, items.item_id
