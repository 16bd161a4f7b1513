-- Selects landed changes that are already in history: late and repeated changes of webhooks, and changes of the feed
-- that history has ahead of the cursor, up to the id held_up_to. Rows of this run were written by an earlier attempt,
-- so they don't count.
-- needs: history, typed_changes
-- values: held_up_to BIGINT, run_id VARCHAR
SELECT change_id
FROM history
WHERE change_id IN (
    SELECT change_id FROM typed_changes WHERE origin = 'webhook' OR change_id <= getvariable('held_up_to')
  )
  AND run_id <> CAST(getvariable('run_id') AS VARCHAR)
