-- Selects rows of the lake that a complete copy doesn't contain, marked as gone; they are never deleted. An item of a
-- dataset that the key can't currently read may still exist, so it isn't selected. readable_datasets is null if the key
-- can read all datasets.
-- needs: exported_items, items
-- values: read_at VARCHAR, readable_datasets VARCHAR[], run_id VARCHAR
SELECT * REPLACE (
  CAST(getvariable('read_at') AS TIMESTAMP WITH TIME ZONE) AS gone_at,
  false AS is_listed,
  CAST(getvariable('run_id') AS VARCHAR) AS run_id
)
FROM items
ANTI JOIN exported_items USING (item_id)
WHERE gone_at IS NULL
  AND (getvariable('readable_datasets') IS NULL OR coalesce(len(datasets), 0) = 0
    OR list_has_all(CAST(getvariable('readable_datasets') AS VARCHAR[]), datasets))
