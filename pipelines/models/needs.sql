-- Items of which the pending changes told too little: they are read whole.
-- Only a price change is told whole. NEW, RELISTED and other values need more; REMOVED does not tell removedAt.
-- Views: pending_changes (changes not yet applied), ground_items (the rows so far).
WITH known AS (
  SELECT *, run_id = CAST(getvariable('run_id') AS VARCHAR) AS is_of_this_run
  FROM ground_items SEMI JOIN pending_changes USING (item_id)
)
SELECT c.item_id, min(c.observed_at) AS observed_at
FROM pending_changes AS c
LEFT JOIN known AS k USING (item_id)
WHERE c.item_id IS NOT NULL
  AND (k.change_id IS NULL OR c.change_id > k.change_id)
  AND (
    k.item_id IS NULL
    OR c.kind <> 'CHANGED'
    -- The row was read while the world went on: it may show the change already, or others of the same time.
    OR k.is_of_this_run
    OR c.observed_at <= k.last_changed_at
    OR NOT (c.previous_price IS NOT NULL OR coalesce(json_exists(c.changes, '$.price'), false))
    OR len(list_filter(json_keys(c.changes), lambda name: name NOT IN ('price', 'previousPrice', 'priceChangedAt'))) > 0
    -- Values that a change names beside, and that are not as we know them.
    OR c.site_id <> k.site_id
    OR c.currency IS DISTINCT FROM k.currency
    OR c.url IS DISTINCT FROM k.url
    OR coalesce(c.title, '') <> coalesce(k.title, '')
  )
GROUP BY c.item_id
