-- Computes the number of seconds that a source may stay unseen if the limit is a multiple of its usual interval. The
-- interval is the mean distance between the days (UTC) on which its items were seen or changed, within the last 180
-- days on which it was seen. If there are fewer than three days, no interval is known. A time more than a day after the
-- read is wrong and ignored.
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
