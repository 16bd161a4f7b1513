-- name: sample_matches
-- severity: error
-- description: In the last run, the sampled items in the lake matched the service.
-- found: [sampled item differs|sampled items differ] from what the service shows
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
