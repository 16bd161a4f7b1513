-- Selects changes that only webhooks delivered, so neither this run's feed nor history has them. History may have such
-- a change without its id, from a comparison of whole rows or from an item's history.
-- needs: feed_changes, history, known_changes, typed_changes
-- values: run_id VARCHAR
WITH candidates AS MATERIALIZED (
  SELECT *
  FROM typed_changes
  WHERE origin = 'webhook'
    AND change_id NOT IN (SELECT change_id FROM feed_changes)
    AND change_id NOT IN (SELECT change_id FROM known_changes)
  QUALIFY row_number() OVER (PARTITION BY change_id ORDER BY observed_at, part) = 1
),
without_id AS (
  SELECT item_id, kind, observed_at
  FROM history
  WHERE change_id IS NULL AND item_id IN (SELECT item_id FROM candidates)
    AND run_id <> CAST(getvariable('run_id') AS VARCHAR)
)
SELECT c.* FROM candidates AS c ANTI JOIN without_id USING (item_id, kind, observed_at)
