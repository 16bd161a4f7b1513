-- name: export_rows
-- severity: gate
-- description: Every export of the last run had as many rows as the service announced.
-- found: [export had|exports had] fewer or more rows than the service announced
-- next: Read the run's row in runs, then run pricelake sync --reconcile to make a complete copy.
SELECT run_id, export_rows, export_rows_landed
FROM runs
WHERE run_number = (SELECT max(run_number) FROM runs)
  AND export_rows <> export_rows_landed
