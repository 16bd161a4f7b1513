-- Items that are read whole: the pending changes say too little about them, a row of theirs could not be typed, a read of
-- an earlier run did not show their changes, or a complete copy lacks them although they are new.
-- Only a price change is complete, and only if it names what changed. NEW, RELISTED and other values need more; REMOVED
-- does not have removedAt. A name that is also that of an attribute may stand for both.
-- An item whose row can't be typed is read again for a day; then it waits for a change or a complete copy.
-- `is_left`: more than 1,000 items are asked for by rejected rows alone; what the service writes wrong so often, it writes
-- wrong again, so these are not read.
-- Views: pending_changes (changes not yet applied), base_items (the rows so far), stale_items (the lake's);
-- tables doubted_items, rejected_items; variables read_at, watermark (changes up to it happened before this run read
-- whole rows; null: none were read).
-- needs: base_items, doubted_items, pending_changes, rejected_items, stale_items
-- values: feed_skew INTERVAL, read_at VARCHAR, run_id VARCHAR, watermark BIGINT
-- makes: needed_items
WITH known AS (
  SELECT
    item_id, change_id, site_id, currency, url, title, last_changed_at, last_seen_at, removed_at,
    run_id = CAST(getvariable('run_id') AS VARCHAR) AS is_of_this_run,
    CASE WHEN contains(attributes, '"price') THEN json_keys(attributes) END AS attribute_names
  FROM base_items SEMI JOIN pending_changes USING (item_id)
),
steps AS (
  SELECT
    c.item_id, c.change_id, c.observed_at, c.kind, k,
    c.kind = 'CHANGED'
      AND is_price_change(c.previous_price, c.price, c.changes)
      AND coalesce(len(json_keys(c.changes)) > 0, false)
      AND len(other_changes(c.previous_price, c.price, c.changes)) = 0
      AND NOT coalesce(list_has_any(json_keys(c.changes), k.attribute_names), false)
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
SELECT item_id, min(observed_at) AS observed_at,
  bool_and(is_rejected) AND sum(bool_and(is_rejected)::INTEGER) OVER () > 1000 AS is_left
FROM (
  SELECT item_id, observed_at, false AS is_rejected
  FROM steps
  WHERE CASE
    WHEN k.item_id IS NULL THEN true
    -- The row was read after the change happened, and shows it unless the service's answers lag behind its feed.
    WHEN k.is_of_this_run AND change_id <= getvariable('watermark') THEN CASE kind
      WHEN 'NEW' THEN false
      WHEN 'REMOVED' THEN NOT shows_removal(
        k.last_changed_at, k.last_seen_at, k.removed_at, observed_at, CAST(NULL AS TIMESTAMP WITH TIME ZONE), getvariable('feed_skew'))
      WHEN 'RELISTED' THEN NOT shows_relisting(k.last_changed_at, k.last_seen_at, k.removed_at, observed_at, observed_at, getvariable('feed_skew'))
      ELSE observed_at > k.last_changed_at AND NOT is_told_whole
    END
    -- The row was read while items changed: it may already show the change, or others of the same time.
    ELSE k.is_of_this_run OR observed_at <= k.last_changed_at OR NOT is_told_whole
  END
  UNION ALL SELECT item_id, observed_at, false FROM doubted_items
  UNION ALL SELECT item_id, observed_at, true FROM rejected_items
  UNION ALL SELECT item_id, observed_at, is_untyped(reason)
  FROM stale_items
  WHERE NOT is_untyped(reason)
    OR first_read_at > CAST(getvariable('read_at') AS TIMESTAMP WITH TIME ZONE) - INTERVAL 1 DAY
)
GROUP BY item_id
