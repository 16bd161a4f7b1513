-- name: export_rows
-- severity: gate
-- description: In the last run, every row that the service announced for its exports landed.
-- found: [export brought|exports brought] fewer or more rows than the service announced
-- next: An export ended early; the next run takes it again from the landing's last whole part.
SELECT run_id, export_rows, export_rows_landed
FROM runs
WHERE run_number = (SELECT max(run_number) FROM runs)
  AND export_rows <> export_rows_landed
