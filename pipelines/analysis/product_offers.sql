-- The offers of several products, with the reasons not to compare them, cheapest first, removed ones last.
-- Variables:
-- · product_ids (list; required): products
-- · currencies (list; required): the currency of each product's offers
-- · top (whole number; default 10): number of offers per product
WITH chosen AS (
  SELECT unnest(getvariable('product_ids')::VARCHAR[]) AS product_id, unnest(getvariable('currencies')::VARCHAR[]) AS currency
)
SELECT
  items.product_id,
  items.currency,
  items.item_id,
  items.site_id,
  coalesce(sites.name, items.site_name) AS shop,
  items.price,
  items.is_listed,
  items.first_seen_at,
  coalesce(items.removed_at, items.gone_at) AS ended_at,
  items.url,
  judged.is_counted,
  judged.reason,
  judged.unit_price,
  judged.unit,
  judged.availability,
  judged.delivered_price,
  count(*) OVER (PARTITION BY items.product_id, items.currency) AS offers
FROM items
JOIN chosen USING (product_id, currency)
LEFT JOIN (FROM 'all_offers.sql') AS judged USING (item_id)
LEFT JOIN sites ON sites.site_id = items.site_id AND sites.is_current
WINDOW in_order AS (
  PARTITION BY items.product_id, items.currency
  ORDER BY NOT items.is_listed, items.price NULLS LAST, items.item_id
)
QUALIFY row_number() OVER in_order <= coalesce(getvariable('top')::BIGINT, 10)
ORDER BY items.product_id, items.currency, NOT items.is_listed, items.price NULLS LAST, items.item_id
