-- Selects changes of several lakes that their union leaves out, so that an event is in history only once. Rows of the
-- same change have its id. A row without an id is left out if a lake that lacks it has a change of the same kind within
-- two minutes, as for differences that a comparison found.
-- needs: all_history
WITH placed AS (
  SELECT
    lake, change_id, item_id, observed_at, kind,
    -- Changes of one lake at the same time have the same rank, so all of them are kept.
    rank() OVER (
      PARTITION BY
        change_id,
        CASE WHEN change_id IS NULL THEN item_id END,
        CASE WHEN change_id IS NULL THEN observed_at END,
        CASE WHEN change_id IS NULL THEN kind END
      -- The item is null in a lake whose key could no longer see the item.
      ORDER BY item_id IS NULL, list_position(['feed', 'webhook', 'history'], origin) NULLS LAST, lake
    ) AS place
  FROM all_history
),
unnumbered AS (
  SELECT lake, item_id, observed_at, kind FROM all_history WHERE change_id IS NULL
),
named AS (
  SELECT u.lake, u.item_id, u.observed_at, u.kind, h.change_id
  FROM unnumbered AS u
  JOIN all_history AS h
    ON h.item_id = u.item_id AND h.kind = u.kind AND h.lake <> u.lake AND h.change_id IS NOT NULL
    AND h.observed_at BETWEEN u.observed_at - INTERVAL 2 MINUTE AND u.observed_at + INTERVAL 2 MINUTE
)
SELECT lake, change_id, item_id, observed_at, kind FROM placed WHERE place > 1
UNION
SELECT lake, CAST(NULL AS BIGINT) AS change_id, item_id, observed_at, kind
FROM named
ANTI JOIN all_history AS known ON known.lake = named.lake AND known.change_id = named.change_id
