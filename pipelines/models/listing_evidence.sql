-- Counts evidence that `changedSince` returns removals, based on removed items and the service's time of their last
-- change. `hiding`: removals that left lastChangedAt unchanged; `moving`: removals that moved it; `returned`: removals
-- that left it unchanged and that this run's poll returned. polled_since is null if the run read more than the poll.
-- A value may change in the same scrape that ends a listing, so equal times alone don't prove that a removal moved
-- lastChangedAt. They do if no scrape had found the item for an hour, because then none had read another value.
-- needs: listing_items
-- values: polled_since VARCHAR
SELECT
  count(*) FILTER (last_changed_at < removed_at - INTERVAL 1 MINUTE) AS hiding,
  -- A row with applied changes has the times of these changes, not the row times of the service.
  count(*) FILTER ((is_read OR change_id IS NULL)
    AND last_changed_at BETWEEN removed_at - INTERVAL 1 SECOND AND removed_at + INTERVAL 1 MINUTE
    AND last_seen_at < last_changed_at - INTERVAL 1 HOUR) AS moving,
  count(*) FILTER (is_read AND removed_at > since AND last_changed_at <= since) AS returned
FROM listing_items, (SELECT CAST(getvariable('polled_since') AS TIMESTAMP WITH TIME ZONE) AS since)
