-- The widest price spreads by trusted prices, with the product's title and the names of the cheapest and the most
-- expensive shop. in_stock_min and delivered_min: the lowest in-stock price and the lowest delivered price among offers
-- that count, each with its shop; null if no attribute says (docs/concepts/attributes.md).
WITH chosen AS MATERIALIZED (FROM 'chosen_spreads.sql'),
counted AS MATERIALIZED (
  SELECT product_id, currency, site_id, price, availability, delivered_price
  FROM offers
  SEMI JOIN chosen USING (product_id, currency)
  WHERE is_counted
),
in_stock AS (
  SELECT product_id, currency, price AS in_stock_min, name AS in_stock_shop
  FROM counted
  LEFT JOIN (SELECT site_id, name FROM sites WHERE is_current) AS names USING (site_id)
  WHERE availability = 'in stock'
  QUALIFY row_number() OVER (PARTITION BY product_id, currency ORDER BY price, site_id) = 1
),
delivered AS (
  SELECT product_id, currency, delivered_price AS delivered_min, name AS delivered_shop
  FROM counted
  LEFT JOIN (SELECT site_id, name FROM sites WHERE is_current) AS names USING (site_id)
  WHERE delivered_price IS NOT NULL
  QUALIFY row_number() OVER (PARTITION BY product_id, currency ORDER BY delivered_price, site_id) = 1
)
SELECT
  product_id,
  title,
  brand,
  category_path,
  currency,
  offers,
  shops,
  "min",
  p25,
  median,
  p75,
  "max",
  mean,
  stddev,
  spread,
  spread_pct,
  cheapest_site_id,
  cheapest.name AS cheapest_shop,
  dearest_site_id,
  dearest.name AS dearest_shop,
  chosen.attribution,
  grade,
  grade_reason,
  left_out,
  trusted_shops,
  trusted_min,
  trusted_median,
  trusted_max,
  (trusted_max - trusted_min)::DECIMAL(18, 4) AS trusted_spread,
  trusted_spread_pct,
  trusted_cheapest_site_id,
  trusted_cheapest.name AS trusted_cheapest_shop,
  trusted_dearest_site_id,
  trusted_dearest.name AS trusted_dearest_shop,
  unit,
  unit_min,
  unit_max,
  unit_spread_pct,
  category_slug,
  category_name,
  in_stock_min,
  in_stock_shop,
  delivered_min,
  delivered_shop
FROM chosen
LEFT JOIN in_stock USING (product_id, currency)
LEFT JOIN delivered USING (product_id, currency)
LEFT JOIN sites AS cheapest ON cheapest.site_id = cheapest_site_id AND cheapest.is_current
LEFT JOIN sites AS dearest ON dearest.site_id = dearest_site_id AND dearest.is_current
LEFT JOIN sites AS trusted_cheapest ON trusted_cheapest.site_id = trusted_cheapest_site_id AND trusted_cheapest.is_current
LEFT JOIN sites AS trusted_dearest ON trusted_dearest.site_id = trusted_dearest_site_id AND trusted_dearest.is_current
ORDER BY place
