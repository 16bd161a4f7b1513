-- Selects spreads with the simplest rule that works: leave out offers that are out of stock and, with three or more
-- shops, prices below half or above twice the median. Then hide a product if its lowest or highest price differs from
-- the next one by a factor of 1.6 or more.
WITH in_stock AS (
  SELECT * FROM items ANTI JOIN (FROM offers WHERE availability = 'out of stock') USING (item_id)
  WHERE is_listed AND price > 0 AND product_id IS NOT NULL
),
near AS (
  SELECT *, median(price) OVER product AS middle, count(*) OVER product AS offers FROM in_stock
  WINDOW product AS (PARTITION BY product_id, currency)
  QUALIFY offers < 3 OR price BETWEEN middle / 2 AND middle * 2
)
SELECT
  product_id,
  currency,
  arg_min(item_id, (price, item_id)) AS lowest,
  arg_max(item_id, (price, item_id)) AS highest,
  max(price) / min(price) AS width
FROM near
GROUP BY product_id, currency
HAVING count(DISTINCT site_id) > 1
  AND list_sort(list(price))[2] <= 1.6 * min(price)
  AND max(price) <= 1.6 * list_sort(list(price))[-2]
