-- name: sample_matches
-- severity: error
-- description: The items sampled in the last run matched the service.
-- found: [sampled item differs|sampled items differ] from the service
-- next: Compare the items in the sample with /items/{id}; pricelake sync --reconcile compares and repairs everything.
SELECT run_id, sampled, mismatch.item_id, mismatch.differences
FROM (
  SELECT
    run_id,
    sampled,
    unnest(from_json(sample_differences, '[{"item_id": "BIGINT", "differences": ["VARCHAR"]}]')) AS mismatch
  FROM runs
  WHERE run_number = (SELECT max(run_number) FROM runs)
)
