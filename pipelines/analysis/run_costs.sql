-- part of: explore
-- Cost of runs by the UTC month in which they ended, newest first: calls, export rows, blocks of overage and bytes
-- received.
-- Variables:
-- · top (whole number; default 12): number of rows
SELECT
  date_trunc('month', finished_at AT TIME ZONE 'UTC')::DATE AS month,
  count(*) AS runs,
  sum(calls)::BIGINT AS calls,
  sum(export_rows)::BIGINT AS export_rows,
  sum(overage_blocks)::BIGINT AS overage_blocks,
  sum(bytes_received)::BIGINT AS bytes_received,
  sum(seconds) AS seconds
FROM runs
GROUP BY ALL
ORDER BY month DESC
LIMIT coalesce(getvariable('top')::BIGINT, 12)
