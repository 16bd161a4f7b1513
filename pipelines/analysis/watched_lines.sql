-- part of: explore
-- Every line of your price list against the market, those with a sure alarm first, then the unsure ones. From watched (watch_changes.sql).
SELECT *
FROM watched
ORDER BY coalesce(sure_alarms, 0) > 0 DESC, coalesce(alarms, 0) > 0 DESC, is_matched DESC, gap_pct DESC NULLS LAST, line
