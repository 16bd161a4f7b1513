-- Computes the websites after the run: known rows, and a new row for each new name, host or license text. In site_refs,
-- the highest rank and place is the latest. An export row may lack the license text, so a text in any row is kept.
-- needs: site_refs, sites
-- values: read_at VARCHAR, run_id VARCHAR
WITH seen AS (
  SELECT
    site_id,
    arg_max({'name': name, 'host': host}, {'rank': rank, 'place': coalesce(place, 0)}) AS site,
    arg_max(attribution, {'rank': rank, 'place': coalesce(place, 0)}) AS attribution
  FROM site_refs
  WHERE site_id IS NOT NULL
  GROUP BY site_id
),
news AS (
  SELECT s.site_id, s.site.name AS name, s.site.host AS host, s.attribution
  FROM seen AS s
  LEFT JOIN sites AS k ON k.site_id = s.site_id AND k.is_current
  WHERE k.site_id IS NULL
     OR (k.name, k.host) IS DISTINCT FROM (s.site.name, s.site.host)
     OR k.attribution IS DISTINCT FROM s.attribution
),
moment AS (SELECT CAST(getvariable('read_at') AS TIMESTAMP WITH TIME ZONE) AS now)
SELECT
  k.site_id, k.name, k.host, k.attribution, k.valid_from,
  CASE WHEN n.site_id IS NOT NULL THEN coalesce(k.valid_to, moment.now) ELSE k.valid_to END AS valid_to,
  k.is_current AND n.site_id IS NULL AS is_current,
  CASE WHEN n.site_id IS NOT NULL AND k.is_current THEN CAST(getvariable('run_id') AS VARCHAR) ELSE k.run_id END AS run_id
FROM sites AS k LEFT JOIN news AS n ON n.site_id = k.site_id, moment
UNION ALL
SELECT site_id, name, host, attribution, moment.now, NULL, true, CAST(getvariable('run_id') AS VARCHAR)
FROM news, moment
ORDER BY site_id, valid_from
