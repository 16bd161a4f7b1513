-- Compares whole reads with the changes of their items, because lists and single items may lag behind the feed by
-- different amounts. `reason` is null if the read includes all changes; otherwise, later runs read a needed item again,
-- for up to an hour. A rejected read is older than the current row, or contains nothing newer, so the current row is
-- kept.
-- A row that a change made has the change's time, which may be later than a read's time by feed_skew. Pages also return
-- items that no change requires. Such a read becomes the row only if it certainly includes all changes, because values
-- that the changes don't name may have changed. Otherwise, the changes are applied to the current row.
-- needs: base_items, history, needed_items, pending_changes, rejected_items, rejected_rows, reread_items, stale_items
-- values: feed_skew INTERVAL, feed_skew_is_known BOOLEAN, read_at VARCHAR
WITH read_beside AS (
  SELECT item_id, min(observed_at) AS observed_at
  FROM pending_changes SEMI JOIN reread_items USING (item_id) ANTI JOIN needed_items USING (item_id)
  GROUP BY item_id
),
asked AS (
  SELECT item_id, observed_at, false AS is_beside, is_left FROM needed_items
  UNION ALL
  SELECT item_id, observed_at, true, false FROM read_beside
),
told AS (
  SELECT
    item_id,
    bool_or(is_pending) AS is_pending,
    max(observed_at) FILTER (kind = 'CHANGED') AS changed_at,
    -- A change of an unknown kind may update any time of the item.
    max(observed_at) FILTER (kind NOT IN ('NEW', 'CHANGED', 'REMOVED', 'RELISTED')) AS other_at,
    arg_max({'price': price}, change_id) FILTER (is_price_change(previous_price, price, changes)) AS price_change,
    arg_max(kind, change_id) FILTER (kind IN ('NEW', 'REMOVED', 'RELISTED')) AS listing,
    arg_max(observed_at, change_id) FILTER (kind IN ('NEW', 'REMOVED', 'RELISTED')) AS listing_at,
    max(observed_at) FILTER (kind = 'REMOVED') AS removal_at,
    max(observed_at) FILTER (kind IN ('NEW', 'RELISTED')) AS relisting_at,
    min(change_id) AS first_change_id,
    -- History doesn't contain rejected changes, so no row counts as the result of one.
    max(change_id) FILTER (NOT is_rejected) AS last_change_id,
    min(observed_at) AS first_observed_at,
    list(observed_at) AS observed_times
  FROM (
    SELECT item_id, change_id, kind, observed_at, price, previous_price, changes, true AS is_pending, false AS is_rejected
    FROM pending_changes SEMI JOIN asked USING (item_id)
    UNION ALL
    SELECT h.item_id, h.change_id, h.kind, h.observed_at, h.price, h.previous_price, h.changes, false, false
    FROM history AS h JOIN stale_items AS s ON s.item_id = h.item_id AND h.change_id >= s.change_id
    UNION ALL
    SELECT item_id, change_id, coalesce(kind, ''), observed_at, NULL, NULL, NULL, true, true
    FROM rejected_rows SEMI JOIN rejected_items USING (item_id)
    WHERE origin = 'feed' AND change_id IS NOT NULL AND observed_at IS NOT NULL
  )
  GROUP BY item_id
),
judged AS (
  SELECT
    n.item_id,
    n.is_beside,
    s.item_id IS NOT NULL AND NOT coalesce(t.is_pending, false) AS is_carried,
    s.first_read_at,
    CASE
      WHEN r.item_id IS NULL AND (n.is_left OR u.item_id IS NOT NULL) THEN untyped()
      WHEN r.item_id IS NULL THEN 'not found'
      WHEN k.item_id IS NOT NULL AND is_older_row(
          r.last_changed_at, r.last_seen_at, r.removed_at, k.last_changed_at, k.last_seen_at, k.removed_at,
          r.price IS NOT DISTINCT FROM k.price AND r.title IS NOT DISTINCT FROM k.title
            OR getvariable('feed_skew_is_known') AND coalesce(list_contains(t.observed_times, k.last_changed_at), false), getvariable('feed_skew'))
        THEN 'older than the copy'
      WHEN t.changed_at > r.last_changed_at + known_skew(getvariable('feed_skew'))
          OR t.other_at > greatest(r.last_changed_at, r.last_seen_at, r.removed_at) + known_skew(getvariable('feed_skew'))
        THEN 'a change is not shown'
      -- The changes suffice without this read, so the read is ignored if it may be older than they are.
      WHEN n.is_beside AND NOT coalesce(
          coalesce(t.changed_at, t.first_observed_at) <= r.last_changed_at
            + CASE WHEN getvariable('feed_skew_is_known') THEN known_skew(getvariable('feed_skew')) ELSE INTERVAL 0 SECOND END
          AND (t.price_change IS NULL OR r.price IS NOT DISTINCT FROM t.price_change.price
            OR r.last_changed_at > coalesce(t.changed_at, t.first_observed_at) + INTERVAL 2 MINUTE), false)
        THEN 'a change is not surely shown'
      WHEN t.listing = 'REMOVED'
          AND NOT shows_removal(r.last_changed_at, r.last_seen_at, r.removed_at, t.listing_at, t.relisting_at, getvariable('feed_skew'))
        THEN 'the removal is not shown'
      WHEN t.listing = 'RELISTED'
          AND NOT shows_relisting(r.last_changed_at, r.last_seen_at, r.removed_at, t.listing_at, coalesce(t.removal_at, k.removed_at), getvariable('feed_skew'))
        THEN 'the relisting is not shown'
    END AS reason,
    coalesce(s.change_id, t.first_change_id) AS first_change_id,
    greatest(t.last_change_id, k.change_id) AS change_id,
    coalesce(s.observed_at, t.first_observed_at, n.observed_at) AS observed_at
  FROM asked AS n
  LEFT JOIN reread_items AS r USING (item_id)
  LEFT JOIN (FROM base_items SEMI JOIN asked USING (item_id)) AS k USING (item_id)
  LEFT JOIN stale_items AS s USING (item_id)
  LEFT JOIN told AS t USING (item_id)
  LEFT JOIN (SELECT DISTINCT item_id FROM rejected_rows WHERE origin = 'reread' AND item_id IS NOT NULL) AS u USING (item_id)
),
moment AS (SELECT CAST(getvariable('read_at') AS TIMESTAMP WITH TIME ZONE) AS now),
final AS (
  SELECT * REPLACE (
    -- After an hour of reads, the row is accepted as it is.
    CASE WHEN NOT is_carried OR is_untyped(reason) OR first_read_at > moment.now - INTERVAL 1 HOUR THEN reason END AS reason,
    CASE WHEN is_carried THEN first_read_at ELSE moment.now END AS first_read_at
  )
  FROM judged, moment
)
SELECT
  item_id,
  CASE WHEN NOT is_beside THEN reason END AS reason,
  first_change_id, change_id, observed_at, first_read_at,
  reason IS NOT NULL AND (is_beside OR reason = 'older than the copy' OR is_carried) AS is_rejected
FROM final
