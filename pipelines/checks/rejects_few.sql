-- name: rejects_few
-- severity: warn
-- description: The last run could type almost all rows that it received.
-- found: [run|runs] with too many rejected rows
-- next: Read reason and raw of the run's rows in rejects.
-- parameter: share DOUBLE default 0.001: maximum share of received rows that may be rejected
SELECT run_id, received, rejected, rejected / received AS share
FROM runs
WHERE run_number = (SELECT max(run_number) FROM runs)
  AND rejected > $share * received
