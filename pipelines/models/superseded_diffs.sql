-- Selects rows of history that a comparison wrote for events that the feed now reports. They are removed, so that an
-- event is in history only once. A comparison finds an event after it happened, so the feed's time isn't later than the
-- row's time, except for the feed's skew.
-- needs: diff_rows, new_changes
-- values: feed_skew INTERVAL
SELECT DISTINCT d.item_id, d.observed_at, d.kind, d.filename
FROM diff_rows AS d
JOIN new_changes AS c ON c.item_id = d.item_id
  -- A change of an unknown kind may describe the same event.
  AND (c.kind = d.kind OR c.kind NOT IN ('NEW', 'CHANGED', 'REMOVED', 'RELISTED'))
WHERE d.origin = 'diff'
  AND c.change_id IS NOT NULL
  AND c.observed_at <= d.observed_at + known_skew(getvariable('feed_skew'))
