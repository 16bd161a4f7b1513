-- part of: the report
-- Check results of the newest checked run, most severe first.
SELECT *
FROM check_results
WHERE run_id = (SELECT arg_max(run_id, checked_at) FROM check_results)
ORDER BY violations = 0, list_position(['gate', 'error', 'warn'], severity), name
