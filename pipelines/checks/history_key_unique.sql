-- name: history_key_unique
-- severity: gate
-- description: Every change id stands in history once. Within a run only its own ids are looked at.
-- next: Look at the rows of the change ids in the sample; two runs that applied one page show two run_ids.
WITH scope AS (
  -- Ids below the run's first were checked when they were written.
  SELECT CASE
    WHEN getvariable('run_id') IS NULL THEN min(change_id)
    ELSE min(change_id) FILTER (run_id = getvariable('run_id'))
  END AS first_id
  FROM history
)
SELECT change_id, count(*) AS copies
FROM history JOIN scope ON change_id >= first_id
GROUP BY change_id
HAVING count(*) > 1
