-- part of: watch
-- Alarms: one row for each shop that is below a lowest allowed price with a price that counts, with its lowest such
-- price and the listing. doubt is null if the alarm is sure. Otherwise it gives the reason: the product's spread has
-- grade C, the offer has a doubt (the offers table), or no other shop sells the product and the price differs from your
-- own by more than `alone` (spread_limits.sql). Reads watched (line, product_id, currency, price, lowest, reason),
-- priced (watch_priced.sql) and price_spread.
WITH below AS (
  SELECT
    line,
    product_id,
    currency,
    site_id,
    watched.price AS own_price,
    arg_min({'item_id': item_id, 'price': priced.price, 'doubt': CASE WHEN doubts <> [] THEN priced.reason END}, (priced.price, item_id)) AS offer
  FROM watched
  JOIN priced USING (product_id, currency)
  WHERE watched.reason IS NULL AND is_right AND priced.price > 0 AND priced.price < lowest
  GROUP BY ALL
),
spreads AS (
  SELECT product_id, currency, grade, grade_reason FROM price_spread WHERE product_id IN (SELECT product_id FROM below)
)
SELECT
  line,
  site_id,
  offer.item_id AS item_id,
  offer.price AS price,
  CASE
    WHEN grade = 'C' THEN grade_reason
    WHEN offer.doubt IS NOT NULL THEN offer.doubt
    WHEN grade IS NULL AND own_price > alone * offer.price
      THEN format('your price is {:.2f} times as high, and no other shop sells it', (own_price / offer.price)::DOUBLE)
    WHEN grade IS NULL AND offer.price > alone * own_price
      THEN format('{:.2f} times your price, and no other shop sells it', (offer.price / own_price)::DOUBLE)
  END AS doubt
FROM below
LEFT JOIN spreads USING (product_id, currency)
CROSS JOIN (FROM 'spread_limits.sql')
