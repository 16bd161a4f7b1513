-- part of: movers
-- The newest change that each run brought.
SELECT run_id, max(observed_at) AS changed_at
FROM history
GROUP BY run_id
