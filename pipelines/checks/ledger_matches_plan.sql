-- name: ledger_matches_plan
-- severity: warn
-- description: In the last run, the ledger had the same calls and export rows as the service.
-- found: [figure of the ledger differs|figures of the ledger differ] from the service's count
-- next: Another client may use the key at the same time, or the service counts differently; see usage_calls and usage_export_rows in runs.
-- parameter: calls BIGINT default 10: accepted difference in calls, because answers that broke off may or may not count; refused ones (calls_refused) never matter
SELECT run_id, calls, calls_refused, usage_calls, export_rows + export_rows_lost AS export_rows, usage_export_rows
FROM runs
WHERE run_number = (SELECT max(run_number) FROM runs)
  AND (usage_calls - calls > $calls OR calls - coalesce(calls_refused, 0) - usage_calls > $calls OR usage_export_rows <> export_rows + export_rows_lost)
