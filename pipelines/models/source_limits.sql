-- Seconds that a source may stay unseen where the limit is a multiple of its usual interval: the mean distance between
-- the days (UTC) on which its items were seen or changed, in the last 180 days that it was seen. Fewer than three days
-- give no interval. A time more than a day after the read is wrong.
-- needs: items
-- values: intervals BIGINT, read_at VARCHAR
WITH times AS (
  SELECT DISTINCT site_id, source_id, epoch_us(last_seen_at) // 86400000000 AS day FROM items
  UNION
  SELECT DISTINCT site_id, source_id, epoch_us(first_seen_at) // 86400000000 FROM items
  UNION
  SELECT DISTINCT site_id, source_id, epoch_us(last_changed_at) // 86400000000 FROM items
  UNION
  SELECT DISTINCT site_id, source_id, epoch_us(price_changed_at) // 86400000000 FROM items
),
days AS (
  SELECT site_id, source_id, day, max(day) OVER (PARTITION BY site_id, source_id) AS last_day
  FROM times
  WHERE day <= epoch_us(CAST(getvariable('read_at') AS TIMESTAMP WITH TIME ZONE)) // 86400000000 + 1
)
SELECT
  site_id,
  source_id,
  (getvariable('intervals') * 86400 * (max(day) - min(day)) + count(*) - 2) // (count(*) - 1) AS stale_after
FROM days
WHERE day > last_day - 180
GROUP BY site_id, source_id
HAVING count(*) >= 3
