-- Landed changes that history holds already: those of webhooks that come again or late, and those of the feed that stand
-- there ahead of the cursor. Rows of this very run are those of an earlier try.
-- Views: typed_changes (landed changes), history; variable held_up_to (newest change that history may hold).
-- needs: history, typed_changes
-- values: held_up_to BIGINT, run_id VARCHAR
-- makes: known_changes
SELECT change_id
FROM history
WHERE change_id IN (
    SELECT change_id FROM typed_changes WHERE origin = 'webhook' OR change_id <= getvariable('held_up_to')
  )
  AND run_id <> CAST(getvariable('run_id') AS VARCHAR)
