-- name: sources_seen
-- severity: warn
-- description: No source with listed items lags more than analysis.staleAfter behind the others.
-- found: [source was|sources were] not seen for longer than analysis.staleAfter
-- next: The offers of these sources have the finding stale and don't count in trusted spreads; ask the service when it will read the sources again.
SELECT site_id, source_id, last_seen_at, clock_at, stale_after
FROM sources
SEMI JOIN (SELECT site_id, source_id FROM items WHERE is_listed) AS listed USING (site_id, source_id)
WHERE is_stale
