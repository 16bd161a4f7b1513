-- Rows of the lake that a complete copy lacks: marked gone, never deleted. They stay as they are when they are gone
-- already, or when they are only in datasets that the key can't read at present.
-- Views: items (the lake), exported_items; variable readable_datasets (names).
SELECT * EXCLUDE (stays) REPLACE (
  CASE WHEN stays THEN gone_at ELSE CAST(getvariable('read_at') AS TIMESTAMP WITH TIME ZONE) END AS gone_at,
  is_listed AND stays AS is_listed,
  CASE WHEN stays THEN run_id ELSE CAST(getvariable('run_id') AS VARCHAR) END AS run_id
)
FROM (
  SELECT *,
    gone_at IS NOT NULL
      OR (len(datasets) > 0 AND NOT list_has_any(datasets, CAST(getvariable('readable_datasets') AS VARCHAR[]))) AS stays
  FROM items
  ANTI JOIN exported_items USING (item_id)
)
