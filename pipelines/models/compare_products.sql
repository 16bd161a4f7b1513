-- Selects products that differ from the service's: products that are missing, or whose offers, shops or prices differ.
-- needs: landed_service_products, product_prices, products
WITH theirs AS (
  SELECT service_id, product_id, offers, shops,
    list_sort(list_transform(from_json(prices, '[{"currency": "VARCHAR", "min": "VARCHAR", "max": "VARCHAR", "offers": "VARCHAR"}]'),
      lambda p: {'currency': p.currency, 'min': exact_money(p.min), 'max': exact_money(p.max), 'offers': exact_bigint(p.offers)})
    ) AS prices
  FROM landed_service_products
),
ours AS (
  SELECT p.product_id, any_value(p.offers) AS offers, any_value(p.shops) AS shops,
    list_sort(list({'currency': c.currency, 'min': c."min", 'max': c."max", 'offers': c.offers})
      FILTER (c.currency IS NOT NULL)) AS prices
  FROM (FROM products SEMI JOIN theirs USING (product_id)) AS p
  LEFT JOIN (FROM product_prices SEMI JOIN theirs USING (product_id)) AS c USING (product_id)
  GROUP BY p.product_id
)
SELECT t.service_id, t.product_id,
  CASE WHEN o.product_id IS NULL THEN ['missing'] ELSE list_filter([
    CASE WHEN o.offers <> t.offers THEN 'offers' END,
    CASE WHEN o.shops <> t.shops THEN 'shops' END,
    CASE WHEN coalesce(o.prices, []) <> coalesce(t.prices, []) THEN 'prices' END
  ], lambda name: name IS NOT NULL) END AS differences
FROM theirs AS t
LEFT JOIN ours AS o USING (product_id)
WHERE len(differences) > 0
