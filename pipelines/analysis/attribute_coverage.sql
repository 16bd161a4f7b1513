-- Coverage of attributes by shop: how many offers tell availability, cost of delivery, condition and regular price. One row for
-- each website with offers (table offers): how many offers it has, of how many something is known, and the share of offers
-- with known availability and known cost of delivery. A shop with few known ones needs a mapping of its own in the pipeline
-- file (analysis.shops, docs/concepts/attributes.md).
-- Limits: condition is known of products with several offers only, and words of titles tell it as well.
SELECT
  offers.site_id,
  coalesce(names.name, offers.site_id::VARCHAR) AS shop,
  count(*) AS offers,
  count(availability) AS availability_known,
  count(*) FILTER (availability = 'in stock') AS in_stock,
  count(*) FILTER (availability = 'out of stock') AS out_of_stock,
  count(*) FILTER (availability = 'on order') AS on_order,
  count(shipping_cost) AS shipping_known,
  count(condition) AS condition_known,
  count(regular_price) AS regular_price_known,
  100 * count(availability)::DOUBLE / count(*) AS availability_pct,
  100 * count(shipping_cost)::DOUBLE / count(*) AS shipping_pct
FROM offers
LEFT JOIN (SELECT site_id, name FROM sites WHERE is_current) AS names USING (site_id)
GROUP BY offers.site_id, names.name
ORDER BY offers DESC, offers.site_id
