-- part of: analyses of offers that are not compared with others
-- Every listed offer with a price: those of table offers, and the single ones of a product in a currency, by the same
-- facts.
FROM offers
UNION ALL BY NAME
FROM (FROM 'single_offers.sql')
