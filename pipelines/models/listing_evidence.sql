-- Whether `changedSince` returns removals: by items that are removed, and when the service says they changed last.
-- `hiding`: removals that left lastChangedAt alone; `moving`: removals that moved it; `returned`: removals that this
-- run's poll has returned though they left lastChangedAt alone.
-- Views: listing_items; variable polled_since (ISO 8601; null where more was read than was polled).
-- needs: listing_items
-- values: polled_since VARCHAR
-- makes: row
SELECT
  count(*) FILTER (last_changed_at < removed_at - INTERVAL 1 MINUTE) AS hiding,
  -- A row that changes have been applied to shows when they were observed, not what the service says.
  count(*) FILTER ((is_read OR change_id IS NULL)
    AND last_changed_at BETWEEN removed_at - INTERVAL 1 SECOND AND removed_at + INTERVAL 1 MINUTE) AS moving,
  count(*) FILTER (is_read AND removed_at > since AND last_changed_at <= since) AS returned
FROM listing_items, (SELECT CAST(getvariable('polled_since') AS TIMESTAMP WITH TIME ZONE) AS since)
