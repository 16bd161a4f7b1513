-- part of: analyses of offers that are not compared with others
-- Every listed offer with a price: those of table offers, and the single ones of a product in a currency, by the same
-- facts.
WITH offered AS MATERIALIZED (
  SELECT item_id, product_id, currency, site_id, source_id, price
  FROM items
  WHERE is_listed AND product_id IS NOT NULL AND price IS NOT NULL AND currency IS NOT NULL
    AND item_id NOT IN (SELECT item_id FROM offers)
)
FROM offers
UNION ALL BY NAME
SELECT
  * EXCLUDE (facts, is_filler),
  facts = [] AS is_counted,
  [one.finding FOR one IN facts] AS findings,
  []::VARCHAR[] AS doubts,
  nullif(array_to_string([one.why FOR one IN facts], '; '), '') AS reason
FROM (FROM 'offer_facts.sql')
