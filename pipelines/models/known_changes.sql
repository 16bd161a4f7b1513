-- Landed changes that history holds already: those of webhooks that come again or late, and those of the feed that
-- webhooks had brought ahead of it. Rows of this very run are those of an earlier try.
-- Views: typed_changes (landed changes), history; variable webhook_ahead (newest change brought ahead of the feed).
SELECT change_id
FROM history
WHERE change_id IN (
    SELECT change_id FROM typed_changes WHERE origin = 'webhook' OR change_id <= getvariable('webhook_ahead')
  )
  AND run_id <> CAST(getvariable('run_id') AS VARCHAR)
