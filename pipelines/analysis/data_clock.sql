-- part of: analyses of the last days or weeks
-- The data's clock: when the service last saw any item. A row that was seen more than a day after it was read has a wrong
-- time, and moves no window; unless all rows are such, because the clock of this machine is behind.
SELECT seen_us, DATE '1970-01-01' + (seen_us // 86400000000)::INTEGER AS seen_day
FROM (
  SELECT
    epoch_us(coalesce(
      max(last_seen_at) FILTER (last_seen_at <= coalesce(read_at, last_seen_at) + INTERVAL 1 DAY),
      max(last_seen_at)
    )) AS seen_us
  FROM items
)
