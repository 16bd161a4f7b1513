-- name: price_not_negative
-- severity: error
-- description: No price is below zero.
-- found: [price is|prices are] below zero
-- next: Look at the item's page; the scrape may have taken a dash for a minus.
-- scope: row
SELECT item_id, site_id, price, previous_price, currency
FROM items
WHERE price < 0 OR previous_price < 0
