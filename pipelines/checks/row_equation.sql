-- name: row_equation
-- severity: gate
-- description: In the last run, received = written + rejected + deduplicated.
-- found: [run has|runs have] unaccounted rows
-- next: A row was lost or counted twice; keep the run's landed files and compare them with items and history.
SELECT run_id, received, written, rejected, deduplicated
FROM runs
WHERE run_number = (SELECT max(run_number) FROM runs)
  AND received <> written + rejected + deduplicated
