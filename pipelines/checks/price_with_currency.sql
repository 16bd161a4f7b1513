-- name: price_with_currency
-- severity: error
-- description: Every price has a currency.
-- found: [price has|prices have] no currency
-- next: product_prices and price_spread leave out offers without a currency; ask the service about the source.
-- scope: row
SELECT item_id, site_id, price, previous_price
FROM items
WHERE currency IS NULL AND (price IS NOT NULL OR previous_price IS NOT NULL)
