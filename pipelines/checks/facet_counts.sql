-- name: facet_counts
-- severity: warn
-- description: After the last complete copy, the lake's counts of listed items by website, category and currency matched the service's.
-- found: [count differs|counts differ] from the service's
-- next: Compare the items of one website, category or currency in /items and in the lake; then run pricelake sync --reconcile.
-- parameter: share DOUBLE default 0.01: maximum accepted difference as a share, because the service changes while runs read it
-- parameter: listings BIGINT default 5: difference in listings that is always accepted
SELECT run_id, difference.*
FROM (
  SELECT
    run_id,
    unnest(from_json(facet_differences,
      '[{"facet": "VARCHAR", "id": "VARCHAR", "name": "VARCHAR", "service": "BIGINT", "lake": "BIGINT"}]')) AS difference
  FROM runs
  WHERE run_number = (SELECT max(run_number) FROM runs)
)
WHERE abs(difference.service - difference.lake)
  > greatest($listings, $share * greatest(difference.service, difference.lake))
