-- Landed changes that history already holds: late and repeated ones of webhooks, and those of the feed that history
-- holds ahead of the cursor, up to change held_up_to. Rows of this run are from an earlier try, so they don't count.
-- needs: history, typed_changes
-- values: held_up_to BIGINT, run_id VARCHAR
SELECT change_id
FROM history
WHERE change_id IN (
    SELECT change_id FROM typed_changes WHERE origin = 'webhook' OR change_id <= getvariable('held_up_to')
  )
  AND run_id <> CAST(getvariable('run_id') AS VARCHAR)
