-- name: ledger_matches_plan
-- severity: warn
-- description: In the last run, the service counted the calls and export rows that the ledger holds.
-- found: [figure of the ledger differs|figures of the ledger differ] from what the service counted
-- next: Another client uses the key at the same time, or the service counts otherwise; see usage_calls and usage_export_rows of runs.
-- parameter: calls BIGINT default 10: difference in calls that is let pass, as answers that broke off may count or not; those that were refused (calls_refused) never matter
SELECT run_id, calls, calls_refused, usage_calls, export_rows + export_rows_lost AS export_rows, usage_export_rows
FROM runs
WHERE run_number = (SELECT max(run_number) FROM runs)
  AND (usage_calls - calls > $calls OR calls - coalesce(calls_refused, 0) - usage_calls > $calls OR usage_export_rows <> export_rows + export_rows_lost)
