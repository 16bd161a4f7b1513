-- Whole reads, judged by the changes: lists and single items may lag behind the feed, each by another amount.
-- `reason` is null where the read shows all of it. Needed items without such a read are read again by later runs, for an
-- hour. A rejected read leaves the row so far in place: it is older than that row, or shows no more than that row.
-- A row that a change made has the change's time: by how much that is later than a read's may be known (feed_skew).
-- What pages brought beside the needed items is left to the changes that describe it.
-- Views: needed_items (needs), reread_items (whole reads, one an item), base_items (the rows so far), stale_items and
-- history (the lake's), pending_changes; variable read_at.
-- needs: base_items, history, needed_items, pending_changes, reread_items, stale_items; variables feed_skew_is_known, read_at
-- makes: judged_reads
WITH told AS (
  SELECT
    item_id,
    bool_or(is_pending) AS is_pending,
    max(observed_at) FILTER (kind = 'CHANGED') AS changed_at,
    arg_max(kind, change_id) FILTER (kind <> 'CHANGED') AS listing,
    arg_max(observed_at, change_id) FILTER (kind <> 'CHANGED') AS listing_at,
    max(observed_at) FILTER (kind = 'REMOVED') AS removal_at,
    max(observed_at) FILTER (kind IN ('NEW', 'RELISTED')) AS relisting_at,
    min(change_id) AS first_change_id,
    max(change_id) AS last_change_id,
    min(observed_at) AS first_observed_at,
    list(observed_at) AS observed_times
  FROM (
    SELECT item_id, change_id, kind, observed_at, true AS is_pending FROM pending_changes SEMI JOIN needed_items USING (item_id)
    UNION ALL
    SELECT h.item_id, h.change_id, h.kind, h.observed_at, false
    FROM history AS h JOIN stale_items AS s ON s.item_id = h.item_id AND h.change_id >= s.change_id
  )
  GROUP BY item_id
),
judged AS (
  SELECT
    n.item_id,
    s.item_id IS NOT NULL AND NOT coalesce(t.is_pending, false) AS is_carried,
    s.first_read_at,
    CASE
      WHEN r.item_id IS NULL THEN 'not found'
      WHEN k.item_id IS NOT NULL AND is_older_row(
          r.last_changed_at, r.last_seen_at, r.removed_at, k.last_changed_at, k.last_seen_at, k.removed_at,
          r.price IS NOT DISTINCT FROM k.price AND r.title IS NOT DISTINCT FROM k.title
            OR getvariable('feed_skew_is_known') AND coalesce(list_contains(t.observed_times, k.last_changed_at), false))
        THEN 'older than the copy'
      WHEN t.changed_at > r.last_changed_at + feed_skew() THEN 'a change is not shown'
      WHEN t.listing = 'REMOVED'
          AND NOT shows_removal(r.last_changed_at, r.last_seen_at, r.removed_at, t.listing_at, t.relisting_at)
        THEN 'the removal is not shown'
      WHEN t.listing = 'RELISTED'
          AND NOT shows_relisting(r.last_changed_at, r.last_seen_at, r.removed_at, t.listing_at, coalesce(t.removal_at, k.removed_at))
        THEN 'the relisting is not shown'
    END AS reason,
    coalesce(s.change_id, t.first_change_id) AS first_change_id,
    greatest(t.last_change_id, k.change_id) AS change_id,
    coalesce(s.observed_at, t.first_observed_at, n.observed_at) AS observed_at
  FROM needed_items AS n
  LEFT JOIN reread_items AS r USING (item_id)
  LEFT JOIN (FROM base_items SEMI JOIN needed_items USING (item_id)) AS k USING (item_id)
  LEFT JOIN stale_items AS s USING (item_id)
  LEFT JOIN told AS t USING (item_id)
),
moment AS (SELECT CAST(getvariable('read_at') AS TIMESTAMP WITH TIME ZONE) AS now),
final AS (
  SELECT * REPLACE (
    -- What an hour of reads shows is taken as it is.
    CASE WHEN NOT is_carried OR first_read_at > moment.now - INTERVAL 1 HOUR THEN reason END AS reason,
    CASE WHEN is_carried THEN first_read_at ELSE moment.now END AS first_read_at
  )
  FROM judged, moment
)
SELECT
  item_id, reason, first_change_id, change_id, observed_at, first_read_at,
  reason IS NOT NULL AND (reason = 'older than the copy' OR is_carried) AS is_rejected
FROM final
