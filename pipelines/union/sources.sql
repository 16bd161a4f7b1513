-- Combines the sources of several lakes: when each was last seen by any lake, and whether it is stale according to the
-- lake that read it last. A copy's clock is the newest time that any lake had seen by then.
-- needs: all_sources
WITH clocks AS (SELECT DISTINCT clock_at FROM all_sources WHERE clock_at IS NOT NULL),
newest AS (
  SELECT *, max(last_seen_at) OVER (PARTITION BY site_id, source_id) AS seen_at
  FROM all_sources
  QUALIFY row_number() OVER (PARTITION BY site_id, source_id ORDER BY read_at DESC, last_seen_at DESC NULLS LAST, lake) = 1
),
heard AS (
  SELECT site_id, source_id, max(clocks.clock_at) AS heard_at
  FROM newest
  JOIN clocks ON clocks.clock_at <= newest.read_at
  GROUP BY site_id, source_id
),
clocked AS (
  SELECT *, CASE WHEN read_by = 'copy' THEN greatest(clock_at, heard_at) ELSE clock_at END AS union_clock_at
  FROM newest
  LEFT JOIN heard USING (site_id, source_id)
)
SELECT
  site_id,
  source_id,
  seen_at AS last_seen_at,
  read_at,
  read_by,
  union_clock_at AS clock_at,
  stale_after,
  coalesce(epoch_us(union_clock_at) - epoch_us(seen_at) > stale_after * 1000000, false) AS is_stale,
  run_id
FROM clocked
ORDER BY site_id, source_id
