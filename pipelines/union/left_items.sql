-- Items of several lakes → the rows that the union of these lakes leaves out. Each item has the row with its newest state:
-- of a lake whose key still sees it, changed last, then seen or removed last, then read last. Of equal ones, the row of the
-- first lake.
-- needs: all_items
SELECT lake, item_id
FROM (
  SELECT
    lake,
    item_id,
    row_number() OVER (
      PARTITION BY item_id
      ORDER BY
        gone_at IS NOT NULL,
        last_changed_at DESC NULLS LAST,
        greatest(last_seen_at, removed_at) DESC NULLS LAST,
        read_at DESC NULLS LAST,
        change_id DESC NULLS LAST,
        lake
    ) AS place
  FROM all_items
)
WHERE place > 1
