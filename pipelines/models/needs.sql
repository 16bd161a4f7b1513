-- Items that are read whole, and why: the pending changes say too little about them, a read of an earlier run did not show
-- their changes, or a complete copy lacks them although they are new.
-- Only a price change is complete. NEW, RELISTED and other values need more; REMOVED does not have removedAt.
-- Views: pending_changes (changes not yet applied), base_items (the rows so far), stale_items (the lake's);
-- table doubted_items; variable watermark (changes up to it happened before this run read whole rows; null: none were read).
-- needs: base_items, doubted_items, pending_changes, stale_items; variables run_id, watermark
-- makes: needed_items
WITH known AS (
  SELECT
    item_id, change_id, site_id, currency, url, title, last_changed_at, last_seen_at, removed_at,
    run_id = CAST(getvariable('run_id') AS VARCHAR) AS is_of_this_run
  FROM base_items SEMI JOIN pending_changes USING (item_id)
),
steps AS (
  SELECT
    c.item_id, c.change_id, c.observed_at, c.kind, k,
    c.kind = 'CHANGED'
      AND is_price_change(c.previous_price, c.price, c.changes)
      AND coalesce(len(other_changes(c.previous_price, c.price, c.changes)), 0) = 0
      -- Values that a change names beside, and that are not as we know them.
      AND NOT coalesce(
        c.site_id <> k.site_id
        OR c.currency IS DISTINCT FROM k.currency
        OR c.url IS DISTINCT FROM k.url
        OR coalesce(c.title, '') <> coalesce(k.title, ''), false) AS is_told_whole
  FROM pending_changes AS c
  LEFT JOIN known AS k USING (item_id)
  WHERE c.item_id IS NOT NULL AND (k.change_id IS NULL OR c.change_id > k.change_id)
)
SELECT item_id, min(observed_at) AS observed_at
FROM (
  SELECT item_id, observed_at
  FROM steps
  WHERE CASE
    WHEN k.item_id IS NULL THEN true
    -- The row was read after the change happened, and shows it unless the service's answers lag behind its feed.
    WHEN k.is_of_this_run AND change_id <= getvariable('watermark') THEN CASE kind
      WHEN 'NEW' THEN false
      WHEN 'REMOVED' THEN NOT shows_removal(
        k.last_changed_at, k.last_seen_at, k.removed_at, observed_at, CAST(NULL AS TIMESTAMP WITH TIME ZONE))
      WHEN 'RELISTED' THEN NOT shows_relisting(k.last_changed_at, k.last_seen_at, k.removed_at, observed_at, observed_at)
      ELSE observed_at > k.last_changed_at AND NOT is_told_whole
    END
    -- The row was read while items changed: it may already show the change, or others of the same time.
    ELSE k.is_of_this_run OR observed_at <= k.last_changed_at OR NOT is_told_whole
  END
  UNION ALL SELECT item_id, observed_at FROM stale_items
  UNION ALL SELECT item_id, observed_at FROM doubted_items
)
GROUP BY item_id
