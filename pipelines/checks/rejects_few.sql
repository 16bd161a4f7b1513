-- name: rejects_few
-- severity: warn
-- description: In the last run, the values of almost all received rows fit their columns.
-- found: [run|runs] with too many rejected rows
-- next: Read the columns reason and raw of the run's rows in rejects.
-- parameter: share DOUBLE default 0.001: maximum share of received rows that may be rejected
SELECT run_id, received, rejected, rejected / received AS share
FROM runs
WHERE run_number = (SELECT max(run_number) FROM runs)
  AND rejected > $share * received
