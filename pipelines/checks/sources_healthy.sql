-- name: sources_healthy
-- severity: warn
-- description: Most sources of every dataset collect data without problems.
-- found: [dataset has|datasets have] many sources with problems
-- next: Until the service repairs the failing sources, their listings stay as they were last seen (items.last_seen_at).
-- parameter: share DOUBLE default 0.8: minimum share of a dataset's sources that must be healthy
SELECT dataset_id, name, models, healthy_models
FROM datasets
WHERE healthy_models < $share * models
