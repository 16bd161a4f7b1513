-- part of: the report
-- What the checks of the newest run that was checked found: the gravest findings first.
SELECT *
FROM check_results
WHERE run_id = (SELECT arg_max(run_id, checked_at) FROM check_results)
ORDER BY violations = 0, list_position(['gate', 'error', 'warn'], severity), name
