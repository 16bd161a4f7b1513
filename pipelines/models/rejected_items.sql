-- Items that a rejected row is of, where no other row of the run shows what that one should have told. A whole row that
-- was read behind a change shows it. A webhook's item may be of other datasets: only a known one counts.
-- Views: rejected_rows (rows that could not be typed), exported_items (whole rows, one an item), items (the lake);
-- variable watermark (changes up to it happened before whole rows were read; null: none were read).
-- needs: exported_items, items, rejected_rows; variables watermark
-- makes: rejected_items
SELECT item_id, min(observed_at) AS observed_at
FROM rejected_rows
WHERE item_id IS NOT NULL
  AND CASE origin
    WHEN 'feed' THEN NOT (coalesce(change_id <= getvariable('watermark'), false) AND item_id IN (SELECT item_id FROM exported_items))
    WHEN 'webhook' THEN item_id IN (SELECT item_id FROM items)
    WHEN 'reread' THEN false
    ELSE item_id NOT IN (SELECT item_id FROM exported_items)
  END
GROUP BY item_id
