-- part of: analyses of offers that are not compared with others
-- Every listed offer with a price: the rows of the offers table, and offers that are the only one of their product in a
-- currency, judged by the same facts.
FROM offers
UNION ALL BY NAME
FROM (FROM 'single_offers.sql')
