-- The ledger's newest runs, the newest first, so many as $top.
SELECT *, received = written + rejected + deduplicated AS adds_up
FROM runs
ORDER BY run_number DESC
LIMIT $top
