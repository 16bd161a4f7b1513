-- Items of which the pending changes told too little: they are read whole.
-- A change carries price and title; NEW, RELISTED and other values need more.
-- Views: pending_changes (changes not yet applied), known_items (item_id, last_changed_at, change_id of what we have).
SELECT c.item_id, min(c.observed_at) AS observed_at
FROM pending_changes AS c
LEFT JOIN known_items AS k USING (item_id)
WHERE c.item_id IS NOT NULL
  AND (
    k.item_id IS NULL
    OR (
      c.change_id > coalesce(k.change_id, -9223372036854775808)
      AND (k.last_changed_at IS NULL OR c.observed_at > k.last_changed_at)
      AND (
        c.kind IN ('NEW', 'RELISTED')
        OR (c.kind = 'CHANGED' AND (
          len(list_filter(json_keys(c.changes), lambda name: name NOT IN ('price', 'previousPrice', 'priceChangedAt', 'title'))) > 0
          OR coalesce(len(json_keys(c.changes)), 0) = 0 AND c.previous_price IS NULL
        ))
      )
    )
  )
GROUP BY c.item_id
