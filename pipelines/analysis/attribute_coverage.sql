-- Coverage of attributes by shop: how many offers have a known availability, delivery cost, condition and regular
-- price. One row per website with listed offers of products: the number of its offers, how many have each value, and the
-- shares with known availability and delivery cost. A shop with low coverage needs its own mapping in the pipeline file
-- (analysis.shops, docs/concepts/attributes.md).
-- Limits: condition may also come from the pipeline file's words.
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
FROM (FROM 'all_offers.sql') AS offers
LEFT JOIN (SELECT site_id, name FROM sites WHERE is_current) AS names USING (site_id)
GROUP BY offers.site_id, names.name
ORDER BY offers DESC, offers.site_id
