-- Items that a rejected row is of, where no other row of the run shows what that one should have told. A whole row that
-- was read behind a change shows it, unless it says that it is older: then it may lag, for an hour at most (LAG_MS).
-- A webhook's item may be of other datasets: only a known one counts.
-- Views: rejected_rows (rows that could not be typed), exported_items (whole rows, one an item), feed_changes, items (the
-- lake); variable watermark (changes up to it happened before whole rows were read; null: none were read).
-- needs: exported_items, feed_changes, items, rejected_rows
-- values: watermark BIGINT
-- makes: rejected_items
WITH newest AS (
  SELECT max(observed_at) AS observed_at FROM feed_changes WHERE change_id <= getvariable('watermark')
)
SELECT r.item_id, min(r.observed_at) AS observed_at
FROM rejected_rows AS r
LEFT JOIN exported_items AS e USING (item_id)
CROSS JOIN newest
WHERE r.item_id IS NOT NULL
  AND CASE r.origin
    WHEN 'feed' THEN NOT coalesce(
      r.change_id <= getvariable('watermark') AND e.item_id IS NOT NULL
        AND (r.observed_at <= e.last_changed_at OR r.observed_at < newest.observed_at - INTERVAL 1 HOUR), false)
    WHEN 'webhook' THEN r.item_id IN (SELECT item_id FROM items)
    WHEN 'reread' THEN false
    ELSE e.item_id IS NULL
  END
GROUP BY r.item_id
