-- name: schema_drift
-- severity: warn
-- description: Responses in the last run had the fields and types of the API document.
-- found: [field deviates|fields deviate] from the API document
-- next: The service has changed. items.extra keeps unknown fields of items; runs.schema_drift shows the drift of earlier runs.
-- parameter: accept VARCHAR default none: fields known to drift, separated by commas
SELECT drift.*
FROM (
  SELECT unnest(from_json(schema_drift, '[{"answer": "VARCHAR", "finding": "VARCHAR", "field": "VARCHAR",
    "found": "VARCHAR", "described": "VARCHAR", "rows": "BIGINT", "looked_at": "BIGINT", "sample": "VARCHAR"}]')) AS drift
  FROM runs
  WHERE run_number = (SELECT max(run_number) FROM runs)
)
WHERE NOT list_contains(string_split($accept, ','), drift.field)
