-- Selects items to read in full: their pending changes don't contain all values, one of their rows couldn't be typed,
-- an earlier run's read didn't include their changes, or a complete copy lacks them although they are new.
-- Only a price change can be complete, and only if it lists the changed values. NEW, RELISTED and changes of other
-- values lack values of the item, and REMOVED lacks removedAt. If an attribute has the same name as a field, the name
-- is ambiguous.
-- An item whose row can't be typed is read again for a day; after that it waits for a change or a complete copy.
-- `is_left` marks items that are not read: if rejected rows alone require more than 1,000 items, reading them would
-- only return the same invalid values. Changes up to watermark happened before this run read whole rows; it is null if
-- the run read none.
-- needs: base_items, doubted_items, pending_changes, rejected_items, stale_items
-- values: feed_skew INTERVAL, read_at VARCHAR, run_id VARCHAR, watermark BIGINT
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
      -- Other values in the change that differ from the known values.
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
    -- The row was read after the change, so it includes the change unless the service's responses lag behind its feed.
    WHEN k.is_of_this_run AND change_id <= getvariable('watermark') THEN CASE kind
      WHEN 'NEW' THEN false
      WHEN 'REMOVED' THEN NOT shows_removal(
        k.last_changed_at, k.last_seen_at, k.removed_at, observed_at, CAST(NULL AS TIMESTAMP WITH TIME ZONE), getvariable('feed_skew'))
      WHEN 'RELISTED' THEN NOT shows_relisting(k.last_changed_at, k.last_seen_at, k.removed_at, observed_at, observed_at, getvariable('feed_skew'))
      ELSE observed_at > k.last_changed_at AND NOT is_told_whole
    END
    -- The row was read while items changed, so it may already include this change or others at the same time.
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
