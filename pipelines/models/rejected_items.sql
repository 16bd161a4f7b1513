-- Selects items of rejected rows whose data isn't in any other row of the run. A whole row that was read after a change
-- includes the change, unless the row's time is older: then it may lag, for an hour at most (LAG_MS). A webhook's item
-- may belong to other datasets, so only known items count. Changes up to watermark happened before whole rows were
-- read; it is null if none were.
-- needs: exported_items, feed_changes, items, rejected_rows
-- values: watermark BIGINT
WITH newest AS (
  SELECT max(observed_at) AS observed_at FROM feed_changes WHERE change_id <= getvariable('watermark')
),
-- Reads the items only if rows were rejected.
known AS (SELECT item_id FROM items SEMI JOIN rejected_rows USING (item_id))
SELECT r.item_id, min(r.observed_at) AS observed_at
FROM rejected_rows AS r
LEFT JOIN exported_items AS e USING (item_id)
CROSS JOIN newest
WHERE r.item_id IS NOT NULL
  AND CASE r.origin
    WHEN 'feed' THEN NOT coalesce(
      r.change_id <= getvariable('watermark') AND e.item_id IS NOT NULL
        AND (r.observed_at <= e.last_changed_at OR r.observed_at < newest.observed_at - INTERVAL 1 HOUR), false)
    WHEN 'webhook' THEN r.item_id IN (SELECT item_id FROM known)
    WHEN 'reread' THEN false
    ELSE e.item_id IS NULL
  END
GROUP BY r.item_id
