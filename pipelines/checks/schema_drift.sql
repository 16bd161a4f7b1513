-- name: schema_drift
-- severity: warn
-- description: In the last run, answers had the fields and types of the API document.
-- found: [field is|fields are] not as the API document describes
-- next: The service has changed. Unknown fields of items are kept in items.extra; runs.schema_drift shows the drift of earlier runs.
-- parameter: accept VARCHAR default none: fields that are known to drift, separated by commas
SELECT drift.*
FROM (
  SELECT unnest(from_json(schema_drift, '[{"answer": "VARCHAR", "finding": "VARCHAR", "field": "VARCHAR",
    "found": "VARCHAR", "described": "VARCHAR", "rows": "BIGINT", "looked_at": "BIGINT", "sample": "VARCHAR"}]')) AS drift
  FROM runs
  WHERE run_number = (SELECT max(run_number) FROM runs)
)
WHERE NOT list_contains(string_split($accept, ','), drift.field)
