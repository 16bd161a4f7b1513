-- Selects the spreads of pricelake's own rule: grades A and B, over the prices that count.
SELECT
  product_id,
  currency,
  arg_min(item_id, (offers.price, item_id)) AS lowest,
  arg_max(item_id, (offers.price, item_id)) AS highest,
  max(offers.price) / min(offers.price) AS width
FROM offers
JOIN price_spread USING (product_id, currency)
WHERE is_counted AND grade <> 'C'
GROUP BY product_id, currency
HAVING count(DISTINCT site_id) > 1
