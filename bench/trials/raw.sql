-- Selects the lowest and the highest price of each product, without any checks.
SELECT
  product_id,
  currency,
  arg_min(item_id, (price, item_id)) AS lowest,
  arg_max(item_id, (price, item_id)) AS highest,
  max(price) / min(price) AS width
FROM items
WHERE is_listed AND price > 0 AND product_id IS NOT NULL
GROUP BY product_id, currency
HAVING count(DISTINCT site_id) > 1
