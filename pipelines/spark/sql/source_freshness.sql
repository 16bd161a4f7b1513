-- Made by generate.py from pipelines/analysis/source_freshness.sql: change that one. Source 985b22877c811c79.
-- step: source_freshness
SELECT
  sources.site_id,
  COALESCE(sites.name, CAST(sources.site_id AS STRING)) AS shop,
  source_id,
  is_stale,
  (
    UNIX_MICROS(clock_at) - UNIX_MICROS(last_seen_at)
  ) / 86400000000 AS unseen_days,
  stale_after / 86400 AS stale_after_days,
  last_seen_at,
  read_at,
  read_by,
  COALESCE(listings, 0) AS listings,
  sites.attribution
FROM sources
LEFT JOIN (
  SELECT
    site_id,
    source_id,
    COUNT(*) AS listings
  FROM items
  WHERE
    is_listed
  GROUP BY
    site_id,
    source_id
) AS listed
  USING (site_id, source_id)
LEFT JOIN sites
  ON sites.site_id = sources.site_id AND sites.is_current
WHERE
  (
    :site_id IS NULL OR sources.site_id = CAST(:site_id AS BIGINT)
  )
  AND (
    :stale IS NULL OR is_stale = CAST(:stale AS BOOLEAN)
  )
ORDER BY
  is_stale DESC,
  unseen_days DESC NULLS FIRST,
  sources.site_id NULLS LAST,
  source_id NULLS LAST
LIMIT CAST(LEAST(COALESCE(CAST(:top AS BIGINT), 9223372036854775807), 2147483647) AS INT);
