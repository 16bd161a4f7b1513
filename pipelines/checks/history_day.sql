-- name: history_day
-- severity: error
-- description: Every change is in the partition of the UTC day on which it was observed. A run checks only its own changes.
-- found: [change is|changes are] in the partition of another day
-- next: Readers that select files by day miss these changes; look at the run that wrote them.
SELECT change_id, item_id, observed_at, observed_date, run_id
FROM history
WHERE observed_date <> DATE '1970-01-01' + floor(epoch_us(observed_at) / 86400000000)::INTEGER
  AND (getvariable('run_id') IS NULL OR run_id = getvariable('run_id'))
