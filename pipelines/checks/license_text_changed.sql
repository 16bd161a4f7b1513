-- name: license_text_changed
-- severity: warn
-- description: No website's license text changed in the last run.
-- found: [website has|websites have] a new license text since the last run
-- next: Read the new text: it may change what you can do with the data. ATTRIBUTION.md and new files contain the new text.
WITH last_run AS (
  SELECT coalesce(getvariable('run_id')::VARCHAR, arg_max(run_id, run_number)) AS run_id FROM runs
),
texts AS (
  SELECT
    *,
    lag(attribution) OVER (PARTITION BY site_id ORDER BY valid_from) AS attribution_before
  FROM sites
)
SELECT site_id, name, attribution_before, attribution
FROM texts
WHERE is_current AND attribution <> attribution_before
  AND run_id = (SELECT run_id FROM last_run)
