-- Rows of the lake that a complete copy lacks, marked gone: they are never deleted. Those in datasets alone that the key
-- can't read at present stay as they are.
-- Views: items (the lake), exported_items; variable readable_datasets (names).
SELECT * REPLACE (
  CAST(getvariable('read_at') AS TIMESTAMP WITH TIME ZONE) AS gone_at,
  false AS is_listed,
  CAST(getvariable('run_id') AS VARCHAR) AS run_id
)
FROM items
ANTI JOIN exported_items USING (item_id)
WHERE gone_at IS NULL
  AND (coalesce(len(datasets), 0) = 0 OR list_has_any(datasets, CAST(getvariable('readable_datasets') AS VARCHAR[])))
