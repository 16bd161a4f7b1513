-- part of: judged_offers, judged_days, spread_grades and watch_alarms
-- The thresholds for judging prices, in one row. They are chosen for the stated reasons, and not fitted to data.
SELECT
  3 AS median_shops, -- the minimum number of prices for a median that shows which price is wrong
  2 AS far, -- prices below half or above twice the usual price are rare, but packs and units differ by whole factors
  1.6 AS alone, -- a price this factor away from the next one needs another shop near it; 40 % off is a larger factor (1.67)
  4 AS sure_shops -- the minimum number of shops for two prices between the lowest and the highest
