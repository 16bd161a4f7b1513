-- Made by generate.py from pipelines/analysis/changes_by_day.sql: change that one. Source 49c9e5bb8d2dd00b.
-- step: changes_by_day
SELECT
  observed_date AS day,
  kind,
  COUNT(*) AS changes
FROM history
WHERE
  observed_date > (
    SELECT
      MAX(observed_date)
    FROM history
  ) - COALESCE(CAST(:days AS INT), 60)
GROUP BY
  observed_date,
  kind
ORDER BY
  observed_date NULLS LAST,
  kind NULLS LAST;
