-- name: price_jump
-- severity: warn
-- description: No listed item's price rose or fell tenfold or more at its last change.
-- found: [item's price|items' prices] changed by a factor of ten or more at the last change
-- next: Look at the item's page: a factor near 10 or 100 often means that the shop or the scrape lost a decimal point.
-- scope: row
-- parameter: factor DOUBLE default 10: minimum factor, up or down, to report
SELECT item_id, site_id, previous_price, price, currency, price_changed_at, price / previous_price AS factor
FROM items
WHERE is_listed AND price > 0 AND previous_price > 0
  AND (price >= $factor * previous_price OR previous_price >= $factor * price)
