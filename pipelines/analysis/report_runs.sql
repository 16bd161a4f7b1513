-- part of: the report
-- The newest runs in the ledger, newest first, and whether the rows of each add up.
-- Variables:
-- · top (whole number; default 10): number of rows
SELECT
  *,
  received = written + rejected + deduplicated AS adds_up,
  (sum(sampled) OVER ())::BIGINT AS all_sampled,
  (sum(sample_mismatches) OVER ())::BIGINT AS all_mismatches
FROM runs
ORDER BY run_number DESC
LIMIT coalesce(getvariable('top')::BIGINT, 10)
