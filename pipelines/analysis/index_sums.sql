-- part of: price indices
-- The sum of the log prices of a pattern's n series in each period. Reads period_prices and patterns
-- (index_patterns.sql).
SELECT pattern_key, any_value(key) AS key, any_value(currency) AS currency, period, count(*) AS n, sum(log_price) AS total
FROM period_prices
JOIN patterns USING (series)
GROUP BY pattern_key, period
