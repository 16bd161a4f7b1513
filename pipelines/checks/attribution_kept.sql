-- name: attribution_kept
-- severity: error
-- description: No website lost its license text in the last run.
-- found: [website|websites] lost [its|their] license text in the last run
-- next: Ask the service if it dropped the text; ATTRIBUTION.md and the files still have the previous text.
WITH last_run AS (
  SELECT coalesce(getvariable('run_id')::VARCHAR, arg_max(run_id, run_number)) AS run_id FROM runs
),
texts AS (
  SELECT
    *,
    lag(attribution) OVER (PARTITION BY site_id ORDER BY valid_from) AS attribution_before
  FROM sites
)
SELECT site_id, name, attribution_before
FROM texts
WHERE is_current AND trim(coalesce(attribution, '')) = '' AND attribution_before IS NOT NULL
  AND run_id = (SELECT run_id FROM last_run)
