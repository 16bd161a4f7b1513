-- The offers of some products, cheapest first, the ones no longer listed last; at most $top a product.
-- $product_ids, $currencies: two lists of the same length, a product and the currency of its offers
WITH chosen AS (
  SELECT unnest($product_ids) AS product_id, unnest($currencies) AS currency
)
SELECT
  items.product_id,
  items.item_id,
  coalesce(sites.name, items.site_name) AS shop,
  items.price,
  items.is_listed,
  items.first_seen_at,
  coalesce(items.removed_at, items.gone_at) AS ended_at,
  items.url,
  count(*) OVER (PARTITION BY items.product_id) AS offers
FROM items
JOIN chosen USING (product_id, currency)
LEFT JOIN sites ON sites.site_id = items.site_id AND sites.is_current
WINDOW in_order AS (
  PARTITION BY items.product_id
  ORDER BY NOT items.is_listed, items.price NULLS LAST, items.item_id
)
QUALIFY row_number() OVER in_order <= $top
ORDER BY items.product_id, NOT items.is_listed, items.price NULLS LAST, items.item_id
