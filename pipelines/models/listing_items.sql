-- Selects items with their listing state after the run: rows of this run replace the lake's rows, and changes are
-- applied to items that the run has not read. listing_datasets lists the names of the datasets to count; null means
-- all.
-- needs: exported_items, gone_reads, items, pending_changes
-- values: listing_datasets VARCHAR[]
WITH told AS (
  SELECT item_id, arg_max(kind, change_id) AS kind, arg_max(site_id, change_id) AS site_id
  FROM pending_changes
  WHERE item_id IS NOT NULL AND kind IN ('NEW', 'REMOVED', 'RELISTED')
  GROUP BY item_id
),
known AS (
  SELECT item_id, site_id, currency, category_slug, datasets, last_seen_at, last_changed_at, removed_at, change_id,
    gone_at, is_listed, true AS is_read
  FROM exported_items
  UNION ALL
  SELECT item_id, site_id, currency, category_slug, datasets, last_seen_at, last_changed_at, removed_at, change_id,
    gone_at, is_listed, false
  FROM items ANTI JOIN exported_items USING (item_id)
)
SELECT
  item_id,
  coalesce(k.site_id, t.site_id) AS site_id,
  k.currency, k.category_slug, k.datasets, k.last_seen_at, k.last_changed_at, k.removed_at, k.change_id,
  CASE WHEN k.is_read THEN k.is_listed ELSE coalesce(t.kind <> 'REMOVED', k.is_listed) END AS is_listed,
  coalesce(k.is_read, false) AS is_read
FROM known AS k
FULL JOIN told AS t USING (item_id)
ANTI JOIN gone_reads USING (item_id)
WHERE (k.gone_at IS NULL OR t.item_id IS NOT NULL)
  AND (getvariable('listing_datasets') IS NULL
    OR list_has_any(k.datasets, CAST(getvariable('listing_datasets') AS VARCHAR[])))
