-- name: sources_seen
-- severity: warn
-- description: Sources with listed items were seen within analysis.staleAfter of the others.
-- found: [source was|sources were] not seen for longer than analysis.staleAfter
-- next: Their offers have the finding stale and count in no trusted spread; ask the service when it reads the sources again.
SELECT site_id, source_id, last_seen_at, clock_at, stale_after
FROM sources
SEMI JOIN (SELECT site_id, source_id FROM items WHERE is_listed) AS listed USING (site_id, source_id)
WHERE is_stale
