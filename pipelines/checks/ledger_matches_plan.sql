-- name: ledger_matches_plan
-- severity: warn
-- description: In the last run, the ledger and the service counted the same calls and export rows.
-- found: [figure of the ledger differs|figures of the ledger differ] from the service's count
-- next: Another client may be using the key, or the service counts differently; see usage_calls and usage_export_rows in runs.
-- parameter: calls BIGINT default 10: accepted difference in calls, because broken-off responses may or may not count; refused calls (calls_refused) never matter
SELECT run_id, calls, calls_refused, usage_calls, export_rows + export_rows_lost AS export_rows, usage_export_rows
FROM runs
WHERE run_number = (SELECT max(run_number) FROM runs)
  AND (usage_calls - calls > $calls OR calls - coalesce(calls_refused, 0) - usage_calls > $calls OR usage_export_rows <> export_rows + export_rows_lost)
