-- name: rejects_many
-- severity: gate
-- description: In the last run, at most a tenth of the received rows could not be typed, or few rows.
-- found: [run|runs] with a large share of rejected rows
-- next: Read reason and raw of the run's rows in the landing; if the service writes values in another way, an update of pricelake is needed. If the rest is to be published all the same, waive the gate.
-- parameter: share DOUBLE default 0.1: largest share of the received rows that may be rejected
-- parameter: rows BIGINT default 20: so many rejected rows are let through whatever their share
SELECT run_id, received, rejected, rejected / received AS share
FROM runs
WHERE run_number = (SELECT max(run_number) FROM runs)
  AND rejected > $rows
  AND rejected > $share * received
