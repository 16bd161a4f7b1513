-- Selects entries of item histories that aren't in history yet. Title, URL and website are the item's current ones. The
-- currency is also the current one, unless changes of the item contain it: then it is the previous currency of the next
-- such change, or else the new one of the last such change. It is null if these two contradict each other, or if the
-- current currency contradicts the last change.
-- The API document doesn't say whether an entry's id equals its change's id, so it is used only if both are known and
-- agree. An item may have several changes of the same kind at the same time. Without ids, they are told apart by their
-- prices and changed values. Changes that the feed has not returned yet are left to the feed. feed_cursor is null
-- without a feed.
-- needs: feed_changes, history, items, typed_changes, early_changes
-- values: feed_cursor BIGINT, run_id VARCHAR, with_feed BOOLEAN
WITH entries AS MATERIALIZED (
  SELECT * FROM typed_changes
  WHERE origin = 'history'
  QUALIFY row_number() OVER (PARTITION BY item_id, change_id ORDER BY observed_at) = 1
),
known AS MATERIALIZED (
  SELECT item_id, observed_at, kind, change_id, currency, changes
  FROM (
    SELECT item_id, observed_at, kind, change_id, currency, changes, run_id FROM history
    WHERE run_id <> CAST(getvariable('run_id') AS VARCHAR)
    UNION ALL BY NAME SELECT item_id, observed_at, kind, change_id, currency, changes, run_id FROM feed_changes
    UNION ALL BY NAME SELECT item_id, observed_at, kind, change_id, currency, changes, run_id FROM early_changes
  )
  WHERE item_id IN (SELECT item_id FROM entries)
),
ids AS (
  SELECT coalesce(bool_and(is_same), false) AS agree
  FROM (
    SELECT bool_or(e.change_id = k.change_id) AS is_same
    FROM entries AS e
    JOIN known AS k USING (item_id, observed_at, kind)
    GROUP BY item_id, observed_at, kind, k.change_id
  )
),
switches AS (
  SELECT item_id, list({'at': observed_at, 'old': old, 'new': new} ORDER BY observed_at) AS switches
  FROM (
    SELECT
      item_id, observed_at,
      json_extract_string(changes, '$.currency[0]') AS old,
      json_extract_string(changes, '$.currency[1]') AS new
    FROM (
      SELECT item_id, observed_at, changes FROM entries
      UNION
      SELECT item_id, observed_at, changes FROM known
    )
    WHERE contains(changes, '"currency"') AND json_array_length(changes, '$.currency') = 2
  )
  -- The name `currency` may also belong to an attribute.
  WHERE regexp_full_match(coalesce(old, 'XXX'), '[A-Z]{3}') AND regexp_full_match(coalesce(new, 'XXX'), '[A-Z]{3}')
    AND old IS DISTINCT FROM new
  GROUP BY item_id
),
-- The currency in the first known change at or after the entry's time, from another response.
shown AS (
  SELECT e.item_id, e.observed_at, e.kind, arg_min(k.currency, k.observed_at) AS currency
  FROM entries AS e
  JOIN known AS k ON k.item_id = e.item_id AND k.observed_at >= e.observed_at
  GROUP BY ALL
),
-- The time that the feed has reached. If it is unknown, the newest time of an item minus the feed's delay.
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
  ANTI JOIN (
    SELECT item_id, observed_at, kind FROM known, ids WHERE change_id IS NULL OR NOT agree
  ) AS k USING (item_id, observed_at, kind)
  ANTI JOIN (SELECT change_id FROM known, ids WHERE agree) AS k USING (change_id)
  WHERE NOT getvariable('with_feed')
    OR ((SELECT agree FROM ids) AND e.change_id <= getvariable('feed_cursor'))
    OR (NOT (SELECT agree FROM ids)
      AND e.observed_at <= (SELECT until FROM told))
  QUALIFY row_number() OVER (
    PARTITION BY item_id, observed_at, kind, price, previous_price, changes,
      CASE WHEN has_change_id THEN change_id END
    ORDER BY change_id
  ) = 1
)
SELECT
  CASE WHEN f.has_change_id THEN f.change_id END AS change_id,
  f.item_id, f.kind, f.observed_at, f.observed_date, f.price, f.previous_price,
  CASE
    WHEN switches IS NULL THEN coalesce(s.currency, i.currency)
    WHEN own IS NOT NULL THEN own.new
    WHEN next IS NULL THEN CASE WHEN last.new = coalesce(s.currency, i.currency) THEN last.new END
    WHEN last IS NULL OR last.new = next.old THEN next.old
  END AS currency,
  f.changes, i.title, i.url, i.site_id,
  f.origin, f.run_id
FROM (
  SELECT
    fresh.*,
    switches,
    list_filter(switches, lambda one: one.at < fresh.observed_at)[-1] AS last,
    list_filter(switches, lambda one: one.at = fresh.observed_at)[1] AS own,
    list_filter(switches, lambda one: one.at > fresh.observed_at)[1] AS next
  FROM fresh
  LEFT JOIN switches USING (item_id)
) AS f
LEFT JOIN shown AS s USING (item_id, observed_at, kind)
LEFT JOIN items AS i USING (item_id)
