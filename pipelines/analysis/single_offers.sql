-- part of: all_offers
-- Listed offers with a price that are not in the offers table, because no other shop sells the product in that
-- currency. They are judged by the facts that need no comparison. explore computes these rows once per version of the
-- lake.
WITH offered AS MATERIALIZED (
  SELECT item_id, product_id, currency, site_id, source_id, price
  FROM items
  WHERE is_listed AND product_id IS NOT NULL AND price IS NOT NULL AND currency IS NOT NULL
    AND item_id NOT IN (SELECT item_id FROM offers)
)
SELECT
  * EXCLUDE (facts, is_filler),
  facts = [] AS is_counted,
  [one.finding FOR one IN facts] AS findings,
  []::VARCHAR[] AS doubts,
  nullif(array_to_string([one.why FOR one IN facts], '; '), '') AS reason
FROM (FROM 'offer_facts.sql')
