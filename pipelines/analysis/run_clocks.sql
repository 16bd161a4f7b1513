-- part of: movers, listing_stock and report_overview
-- The changes that each run added: their number, and the times of the oldest and the newest.
SELECT run_id, count(*) AS changes, min(observed_at) AS first_at, max(observed_at) AS changed_at
FROM history
GROUP BY run_id
