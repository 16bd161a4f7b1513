-- part of: judged_offers, judged_days, spread_grades and watch_alarms
-- The thresholds for judging prices, in one row. They are chosen for the stated reasons, and not fitted to data.
SELECT
  3 AS median_shops, -- the fewest prices whose median shows which of them is wrong
  2 AS far, -- shops rarely ask less than half or more than twice the usual price; packs and units differ by whole factors
  1.6 AS alone, -- a usual price and 40 % off it are further apart, so a price beyond it needs another shop near it
  4 AS sure_shops -- the fewest shops of which two are between the lowest and the highest price
