-- part of: explore
-- Currencies in which products are sold, the currency with the most products first.
SELECT currency, count(*) AS products
FROM product_prices
SEMI JOIN products USING (product_id)
GROUP BY currency
ORDER BY products DESC, currency
