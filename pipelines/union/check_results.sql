-- Combines the check results of several lakes: the newest results of each lake, one row for each check. A check that
-- not every lake has run is included only if it found violations.
-- needs: all_check_results
-- values: lakes BIGINT, run_id VARCHAR
WITH newest AS (
  SELECT *
  FROM all_check_results
  SEMI JOIN (SELECT lake, arg_max(run_id, checked_at) AS run_id FROM all_check_results GROUP BY lake) USING (lake, run_id)
)
SELECT
  CAST(getvariable('run_id') AS VARCHAR) AS run_id,
  name,
  ['warn', 'error', 'gate'][max(list_position(['warn', 'error', 'gate'], severity))] AS severity,
  arg_min(description, lake) AS description,
  sum(violations)::BIGINT AS violations,
  bool_or(let_through) AS let_through,
  arg_max(sample, violations) AS sample,
  sum(seconds) AS seconds,
  min(checked_at) AS checked_at
FROM newest
GROUP BY name
HAVING sum(violations) > 0 OR count(*) = CAST(getvariable('lakes') AS BIGINT)
ORDER BY name
