-- name: rejects_many
-- severity: gate
-- description: The last run rejected at most a tenth of the rows that it received, or only a few rows.
-- found: [run|runs] with a large share of rejected rows
-- next: Read the reason and the raw text of the run's rejected rows in the landing; if the service writes values differently, pricelake needs an update. To publish the other rows anyway, waive the gate.
-- parameter: share DOUBLE default 0.1: maximum share of received rows that may be rejected
-- parameter: rows BIGINT default 20: number of rejected rows that always pass, whatever their share
SELECT run_id, received, rejected, rejected / received AS share
FROM runs
WHERE run_number = (SELECT max(run_number) FROM runs)
  AND rejected > $rows
  AND rejected > $share * received
