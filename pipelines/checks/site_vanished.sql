-- name: site_vanished
-- severity: warn
-- description: No website lost most of its listings in the last run.
-- found: [website|websites] lost most of [its|their] listings in the last run
-- next: The shop may have closed, or a source may have stopped finding its pages; ask the service.
-- within_run: site_id
-- parameter: share DOUBLE default 0.5: maximum share of a website's listings that may vanish in one run
-- parameter: listings BIGINT default 20: minimum number of lost listings to report
WITH last_run AS (
  SELECT coalesce(getvariable('run_id')::VARCHAR, arg_max(run_id, run_number)) AS run_id FROM runs
),
counted AS (
  SELECT
    site_id,
    count(*) FILTER (is_listed) AS listed,
    count(*) FILTER (NOT is_listed AND run_id = (SELECT run_id FROM last_run)) AS lost
  FROM items
  GROUP BY site_id
)
SELECT site_id, sites.name, listed, lost
FROM counted
LEFT JOIN sites USING (site_id)
-- A first copy also contains listings that were removed long ago.
WHERE coalesce(sites.is_current, true) AND lost >= $listings AND lost > $share * (listed + lost)
  AND (SELECT count(*) FROM runs) > 1
