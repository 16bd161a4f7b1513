-- name: facet_counts
-- severity: warn
-- description: After the last complete copy, listed items by website, category and currency were as many as the service counts.
-- found: [count differs|counts differ] from what the service counts
-- next: Compare the items of one value: /items with the filter site, category or currency, and the lake's; then sync --reconcile.
-- parameter: share DOUBLE default 0.01: largest share of a count that is let pass, as the service moves while it is read
-- parameter: listings BIGINT default 5: difference in listings that is let pass in any case
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
