-- Selects rows of items of several lakes that their union leaves out. For each item, the union keeps the row with the
-- newest state: from a lake whose key can still see it, then the one changed last, then seen or removed last, then read
-- last. If rows are equal, it keeps the first lake's.
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
