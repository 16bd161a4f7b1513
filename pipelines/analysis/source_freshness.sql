-- How fresh the sources are: one row per source of each website, the stalest first. A source is a part of a
-- website that the service reads separately (the API's source id). unseen: days from the time when any item of the source
-- was last seen to the data's clock, or 0 if the clock is behind; null if unknown. is_stale: unseen is above stale_after
-- (analysis.staleAfter), so the source's offers don't count. listings: currently listed items of the source. read_by and
-- read_at: the last read that showed the source.
-- Limits: a source is as fresh as its newest item; changes report items that a scrape no longer finds.
-- Variables:
-- · site_id (site): only this shop
-- · stale (true or false): true for stale sources only, false for the others
-- · top (whole number; default all): number of rows
SELECT
  sources.site_id,
  coalesce(sites.name, sources.site_id::VARCHAR) AS shop,
  source_id,
  is_stale,
  CASE WHEN last_seen_at > clock_at THEN 0 ELSE (epoch_us(clock_at) - epoch_us(last_seen_at)) / 86400000000 END AS unseen_days,
  stale_after / 86400 AS stale_after_days,
  last_seen_at,
  read_at,
  read_by,
  coalesce(listings, 0) AS listings,
  sites.attribution
FROM sources
LEFT JOIN (
  SELECT site_id, source_id, count(*) AS listings FROM items WHERE is_listed GROUP BY site_id, source_id
) AS listed USING (site_id, source_id)
LEFT JOIN sites ON sites.site_id = sources.site_id AND sites.is_current
WHERE (getvariable('site_id') IS NULL OR sources.site_id = getvariable('site_id')::BIGINT)
  AND (getvariable('stale') IS NULL OR is_stale = getvariable('stale')::BOOLEAN)
ORDER BY is_stale DESC, unseen_days DESC NULLS FIRST, sources.site_id, source_id
LIMIT coalesce(getvariable('top')::BIGINT, 9223372036854775807)
