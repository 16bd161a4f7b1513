-- part of: judged_offers and spread_figures
-- Outlier limits for groups of four or more prices with one beyond half or twice their middle: from price_groups (key,
-- prices in order, as integers). The middle of prices is the geometric mean of the two middle ones; middle_squared is
-- exact. A price is an outlier if its square is beyond a quarter or four times middle_squared, and its log is farther
-- from that of the middle than log_limit: 3.5 * 1.4826 * the median of these distances (Iglewicz and Hoaglin). If more
-- than half of the prices are equal, log_limit is 0, and only half and twice the middle decide.
WITH middles AS (
  SELECT key, prices, len(prices) AS n, prices[(n + 1) // 2]::HUGEINT * prices[n // 2 + 1] AS middle_squared
  FROM price_groups
  WHERE len(prices) >= 4
),
distances AS (
  SELECT key, n, middle_squared, list_sort([abs(ln(price) - ln(middle_squared) / 2) FOR price IN prices]) AS gaps
  FROM middles
  WHERE prices[n]::HUGEINT * prices[n] > 4 * middle_squared OR 4 * (prices[1]::HUGEINT * prices[1]) < middle_squared
)
SELECT key, middle_squared, 3.5 * 1.4826 * (gaps[(n + 1) // 2] + gaps[n // 2 + 1]) / 2 AS log_limit
FROM distances
