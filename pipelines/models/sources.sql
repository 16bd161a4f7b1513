-- Computes the sources after the run: when each was last seen, and which are stale. A time more than a day after the
-- read is wrong, unless all times are, because then this machine's clock is behind. Any row or change proves that its
-- source is active. Only a complete copy (is_whole) or a probe proves that a source is behind the others: a probe
-- returns a website's most recently seen item, so none of the website's sources was seen later.
-- needs: probed_sites, seen_items, source_limits, sources
-- values: is_whole BOOLEAN, keeps_limits BOOLEAN, read_at VARCHAR, run_id VARCHAR, stale_after BIGINT
WITH moment AS (SELECT CAST(getvariable('read_at') AS TIMESTAMP WITH TIME ZONE) AS now),
seen AS (
  SELECT
    site_id,
    source_id,
    min(list_position(['copy', 'poll', 'probe', 'item', 'change'], read_by)) AS place,
    max(last_seen_at) FILTER (last_seen_at <= now + INTERVAL 1 DAY) AS sound_at,
    max(last_seen_at) AS any_at
  FROM seen_items, moment
  WHERE site_id IS NOT NULL AND source_id IS NOT NULL
  GROUP BY site_id, source_id
),
soundness AS (
  SELECT count(sound_at) + (SELECT count(*) FROM sources, moment WHERE last_seen_at <= now + INTERVAL 1 DAY) = 0 AS is_behind
  FROM seen
),
known AS (
  SELECT
    site_id,
    source_id,
    k.run_id IS NULL AS is_new,
    greatest(k.last_seen_at, CASE WHEN is_behind THEN any_at ELSE sound_at END) AS last_seen_at,
    coalesce(getvariable('is_whole') OR place IS NOT NULL, false) AS is_read,
    k.read_at,
    CASE WHEN getvariable('is_whole') THEN 'copy' ELSE ['copy', 'poll', 'probe', 'item', 'change'][place] END AS read_now_by,
    k.read_by,
    k.clock_at,
    CASE WHEN getvariable('keeps_limits') THEN k.stale_after
      ELSE coalesce(source_limits.stale_after, getvariable('stale_after')) END AS stale_after
  FROM sources AS k
  FULL JOIN seen USING (site_id, source_id)
  LEFT JOIN source_limits USING (site_id, source_id)
  CROSS JOIN soundness
),
clock AS (SELECT max(last_seen_at) AS clock FROM known),
probed AS (
  SELECT
    known.*,
    p.source_id IS NOT NULL AND coalesce(
      p.source_id = known.source_id
        OR epoch_us(clock) - epoch_us(greatest(p.last_seen_at, known.last_seen_at)) > stale_after * 1000000,
      false) AS is_probed
  FROM known
  CROSS JOIN clock
  LEFT JOIN (SELECT * FROM probed_sites, moment WHERE last_seen_at <= now + INTERVAL 1 DAY) AS p USING (site_id)
),
judged AS (
  SELECT
    site_id,
    source_id,
    last_seen_at,
    CASE WHEN is_read OR is_probed THEN now ELSE read_at END AS read_at,
    CASE WHEN is_read THEN read_now_by WHEN is_probed THEN 'probe' ELSE read_by END AS read_by,
    CASE WHEN getvariable('is_whole') OR is_probed THEN clock
      WHEN is_new THEN last_seen_at ELSE clock_at END AS next_clock_at,
    stale_after
  FROM probed, clock, moment
)
SELECT
  site_id,
  source_id,
  last_seen_at,
  read_at,
  read_by,
  next_clock_at AS clock_at,
  stale_after,
  coalesce(epoch_us(next_clock_at) - epoch_us(last_seen_at) > stale_after * 1000000, false) AS is_stale,
  CAST(getvariable('run_id') AS VARCHAR) AS run_id
FROM judged
