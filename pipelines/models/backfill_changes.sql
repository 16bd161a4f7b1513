-- Entries of items' histories that history lacks. Currency, title, page and website are the item's present ones.
-- The API document does not show if an entry's id is its change's id, so it is taken only if both are known and agree.
-- Changes that the feed has not brought yet are left to the feed. feed_cursor is null without a feed.
-- needs: feed_changes, history, items, typed_changes, webhook_changes
-- values: feed_cursor BIGINT, run_id VARCHAR, with_feed BOOLEAN
WITH entries AS MATERIALIZED (
  SELECT * FROM typed_changes
  WHERE origin = 'history'
  QUALIFY row_number() OVER (PARTITION BY item_id, change_id ORDER BY observed_at) = 1
),
known AS MATERIALIZED (
  SELECT item_id, observed_at, kind, change_id
  FROM (
    SELECT item_id, observed_at, kind, change_id, run_id FROM history
    WHERE run_id <> CAST(getvariable('run_id') AS VARCHAR)
    UNION ALL BY NAME SELECT item_id, observed_at, kind, change_id, run_id FROM feed_changes
    UNION ALL BY NAME SELECT item_id, observed_at, kind, change_id, run_id FROM webhook_changes
  )
  WHERE item_id IN (SELECT item_id FROM entries)
),
ids AS (
  SELECT coalesce(bool_and(e.change_id = k.change_id), false) AS agree
  FROM entries AS e
  JOIN known AS k USING (item_id, observed_at, kind)
),
-- Time that the feed has reached; if unknown, the items' newest time minus the delay of the feed.
told AS (
  SELECT coalesce(max(observed_at), (SELECT max(last_changed_at) - INTERVAL 1 MINUTE FROM items)) AS until
  FROM (
    SELECT observed_at, change_id FROM known UNION ALL SELECT observed_at, change_id FROM feed_changes
    UNION ALL SELECT observed_at, change_id FROM history WHERE origin = 'feed'
  )
  WHERE coalesce(change_id <= getvariable('feed_cursor'), true)
),
fresh AS (
  SELECT e.*, (SELECT agree FROM ids) AS has_change_id
  FROM entries AS e
  ANTI JOIN known USING (item_id, observed_at, kind)
  ANTI JOIN (SELECT change_id FROM known, ids WHERE agree) AS k USING (change_id)
  WHERE NOT getvariable('with_feed')
    OR ((SELECT agree FROM ids) AND e.change_id <= getvariable('feed_cursor'))
    OR (NOT (SELECT agree FROM ids)
      AND e.observed_at <= (SELECT until FROM told))
)
SELECT
  CASE WHEN f.has_change_id THEN f.change_id END AS change_id,
  f.item_id, f.kind, f.observed_at, f.observed_date, f.price, f.previous_price,
  i.currency, f.changes, i.title, i.url, i.site_id,
  f.origin, f.run_id
FROM fresh AS f
LEFT JOIN items AS i USING (item_id)
