-- Measures how often a rule for spreads is wrong, given the truth about each offer. Reads the tables items and offers,
-- truth (item_id, fault), and shown (product_id, currency, lowest, highest: the items at both ends of a spread that the
-- rule shows, width). A spread is false if an offer at either end is not an honest price of the product. An honest
-- spread is the spread of the product's honest offers: of all of them, or of each shop's cheapest. It is shown
-- correctly if the rule shows both prices of one of these spreads.
WITH judged AS (
  SELECT
    shown.*,
    row_number() OVER (ORDER BY width DESC, shown.product_id, shown.currency) AS place,
    low.fault IS NOT NULL OR high.fault IS NOT NULL AS is_false,
    low_item.price AS low_price,
    high_item.price AS high_price
  FROM shown
  JOIN truth AS low ON low.item_id = lowest
  JOIN truth AS high ON high.item_id = highest
  JOIN items AS low_item ON low_item.item_id = lowest
  JOIN items AS high_item ON high_item.item_id = highest
),
shops AS (
  SELECT product_id, currency, min(price) AS lowest, max(price) AS highest
  FROM items
  JOIN truth USING (item_id)
  WHERE fault IS NULL AND is_listed AND price > 0
  GROUP BY product_id, currency, site_id
),
honest AS (
  SELECT product_id, currency, min(lowest) AS lowest_price, max(highest) AS highest_price, max(lowest) AS highest_of_shops
  FROM shops
  GROUP BY product_id, currency
  HAVING count(*) > 1 AND max(lowest) >= 1.5 * min(lowest)
)
SELECT
  count(*) AS shown,
  count(*) FILTER (is_false AND place <= 50) AS false_of_50,
  count(*) FILTER (is_false AND place <= 200) AS false_of_200,
  round(100 * avg(is_false::INTEGER), 1) AS false_pct,
  (SELECT count(*) FROM honest) AS honest_wide,
  round(100 * (
    SELECT count(*) FROM honest SEMI JOIN judged USING (product_id, currency)
    WHERE EXISTS (
      FROM judged
      WHERE judged.product_id = honest.product_id AND judged.currency = honest.currency
        AND low_price = lowest_price AND high_price IN (highest_price, highest_of_shops)
    )
  ) / nullif((SELECT count(*) FROM honest), 0), 0) AS right_pct
FROM judged
