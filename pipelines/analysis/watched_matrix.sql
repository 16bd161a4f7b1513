-- part of: explore
-- The lowest price that counts of each shop for each line of your price list: one row for each line and shop.
-- own_price: your price. is_cheapest: neither another shop nor you have a lower price. is_own_cheapest: no shop has a
-- lower price than you. Reads watched (watch_changes.sql) and watch_priced.
-- Variables:
-- · place (cheapest | middle | dearest | alone | undercut | rivals_out): only lines in this place (watched_places.sql)
-- · first (whole number; default 0): number of lines to skip
-- · top (whole number; default 50): number of lines
WITH lines AS MATERIALIZED (
  SELECT line, product, product_id, title, currency, price AS own_price
  FROM (FROM 'watched_places.sql')
  WHERE getvariable('place') IS NULL OR list_contains(places, getvariable('place')::VARCHAR)
  ORDER BY line
  LIMIT coalesce(getvariable('top')::BIGINT, 50) OFFSET coalesce(getvariable('first')::BIGINT, 0)
),
asked AS MATERIALIZED (
  SELECT product_id, currency, site_id, min({'price': price, 'availability': availability}) AS offer
  FROM watch_priced
  WHERE is_counted
  GROUP BY product_id, currency, site_id
)
SELECT
  lines.line,
  lines.product,
  lines.product_id,
  lines.title,
  lines.currency,
  own_price,
  asked.site_id,
  coalesce(sites.name, asked.site_id::VARCHAR) AS shop,
  offer.price AS price,
  offer.availability AS availability,
  offer.price = least(own_price, min(offer.price) OVER (PARTITION BY lines.line)) AS is_cheapest,
  own_price <= min(offer.price) OVER (PARTITION BY lines.line) AS is_own_cheapest
FROM lines
LEFT JOIN asked USING (product_id, currency)
LEFT JOIN sites ON sites.site_id = asked.site_id AND sites.is_current
ORDER BY lines.line, price NULLS LAST, asked.site_id
