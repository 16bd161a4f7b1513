-- name: history_key_unique
-- severity: gate
-- description: Every change id occurs once in history; changes without an id differ in item, time, kind, price or values. A run checks only its own changes.
-- found: [change is|changes are] in history more than once
-- next: Look at the rows with the keys in the sample; if their run_id differs, two runs applied the same page.
WITH scope AS (
  -- Ids below the run's first id were checked when their rows were written.
  SELECT CASE
    WHEN getvariable('run_id') IS NULL THEN min(change_id)
    ELSE min(change_id) FILTER (run_id = getvariable('run_id'))
  END AS first_id
  FROM history
)
SELECT change_id, any_value(item_id) AS item_id, NULL AS observed_at, count(*) AS copies
FROM history JOIN scope ON change_id >= first_id
GROUP BY change_id
HAVING count(*) > 1
UNION ALL
SELECT NULL, item_id, observed_at, count(*)
FROM history
WHERE change_id IS NULL
GROUP BY item_id, observed_at, kind, price, previous_price, changes
HAVING count(*) > 1 AND (getvariable('run_id') IS NULL OR bool_or(run_id = getvariable('run_id')))
