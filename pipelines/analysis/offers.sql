-- The listed offers of a product, cheapest first in each currency, with the reasons not to compare them.
-- Variables:
-- · product (product; required): the product
-- · currency (currency): only prices in this currency
SELECT
  items.currency,
  items.price,
  sites.name AS shop,
  items.site_id,
  item_id,
  items.title,
  items.previous_price,
  items.price_changed_at,
  items.first_seen_at,
  items.last_seen_at,
  items.url,
  sites.attribution,
  judged.is_counted,
  judged.findings,
  judged.reason,
  judged.quantity,
  judged.unit,
  judged.unit_price,
  judged.availability,
  judged.shipping_cost,
  judged.delivered_price,
  judged.regular_price
FROM (FROM 'product_listings.sql') AS items
LEFT JOIN (FROM (FROM 'all_offers.sql') WHERE product_id = getvariable('product')) AS judged USING (item_id)
LEFT JOIN sites ON sites.site_id = items.site_id AND sites.is_current
WHERE items.product_id = getvariable('product') AND items.is_listed
  AND (getvariable('currency') IS NULL OR items.currency = getvariable('currency'))
ORDER BY items.currency NULLS LAST, items.price NULLS LAST, item_id
