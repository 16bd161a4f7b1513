-- part of: explore
-- Currencies in which products are sold, those of most products first.
SELECT currency, count(*) AS products
FROM (FROM 'product_cards.sql')
GROUP BY currency
ORDER BY products DESC, currency
