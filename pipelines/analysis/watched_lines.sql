-- part of: explore
-- Every line of your price list against the market, those with an alarm first. From watched (watch_changes.sql).
SELECT *
FROM watched
ORDER BY coalesce(below_shops, 0) > 0 DESC, is_matched DESC, gap_pct DESC NULLS LAST, line
