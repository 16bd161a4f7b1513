-- Combines the newest runs of several lakes into the ledger of their union: one row that claims no more than the
-- weakest of them. Counts are sums. The lakes' samples are not a sample of the union, so the union has no error bound.
-- needs: all_runs
-- values: items BIGINT, run_id VARCHAR
WITH newest AS (
  SELECT * FROM all_runs QUALIFY row_number() OVER (PARTITION BY lake ORDER BY run_number DESC) = 1
),
current AS (
  SELECT CASE WHEN bool_and(caught_up_at IS NOT NULL) THEN min(caught_up_at) END AS caught_up_at
  FROM (SELECT max(caught_up_at) AS caught_up_at FROM all_runs GROUP BY lake)
),
columns_found AS (
  SELECT unnest(json_keys(difference_columns)) AS name, difference_columns FROM newest
),
columns_counted AS (
  SELECT name, sum(CAST(json_extract_string(difference_columns, '$."' || name || '"') AS BIGINT))::BIGINT AS items
  FROM columns_found
  GROUP BY name
)
SELECT
  CAST(1 AS BIGINT) AS run_number,
  CAST(getvariable('run_id') AS VARCHAR) AS run_id,
  string_agg(DISTINCT pipeline, ', ' ORDER BY pipeline) AS pipeline,
  string_agg(DISTINCT mode, ', ' ORDER BY mode) AS mode,
  'several lakes shown as one: ' || string_agg(pipeline || ' as of run ' || run_number, ', ' ORDER BY lake) AS reason,
  min(started_at) AS started_at,
  min(finished_at) AS finished_at,
  sum(seconds) AS seconds,
  sum(tries)::BIGINT AS tries,
  CAST(NULL AS BIGINT) AS cursor_from,
  CASE WHEN bool_and(cursor_to IS NOT NULL) THEN min(cursor_to) END AS cursor_to,
  bool_and(caught_up) AS caught_up,
  CASE WHEN bool_and(stale_items IS NOT NULL) THEN sum(stale_items)::BIGINT END AS stale_items,
  (SELECT caught_up_at FROM current) AS caught_up_at,
  CASE WHEN bool_and(listing_unknown IS NOT NULL) THEN sum(listing_unknown)::BIGINT END AS listing_unknown,
  CAST(NULL AS BIGINT) AS feed_skew_us,
  sum(calls)::BIGINT AS calls,
  sum(calls_refused)::BIGINT AS calls_refused,
  sum(export_rows)::BIGINT AS export_rows,
  sum(export_rows_landed)::BIGINT AS export_rows_landed,
  sum(export_rows_lost)::BIGINT AS export_rows_lost,
  bool_or(overage) AS overage,
  sum(overage_blocks)::BIGINT AS overage_blocks,
  CASE WHEN bool_and(usage_calls IS NOT NULL) THEN sum(usage_calls)::BIGINT END AS usage_calls,
  CASE WHEN bool_and(usage_export_rows IS NOT NULL) THEN sum(usage_export_rows)::BIGINT END AS usage_export_rows,
  sum(bytes_received)::BIGINT AS bytes_received,
  sum(received)::BIGINT AS received,
  sum(written)::BIGINT AS written,
  sum(rejected)::BIGINT AS rejected,
  sum(deduplicated)::BIGINT AS deduplicated,
  sum(differences)::BIGINT AS differences,
  (SELECT coalesce(CAST(json_group_object(name, items) AS VARCHAR), '{}') FROM columns_counted) AS difference_columns,
  sum(missed)::BIGINT AS missed,
  sum(gone)::BIGINT AS gone,
  sum(sampled)::BIGINT AS sampled,
  sum(sample_mismatches)::BIGINT AS sample_mismatches,
  CAST(1 AS DOUBLE) AS mismatch_bound,
  '[' || coalesce(string_agg(sample_differences[2:-2], ',' ORDER BY lake) FILTER (sample_differences <> '[]'), '') || ']' AS sample_differences,
  sum(products_compared)::BIGINT AS products_compared,
  sum(products_different)::BIGINT AS products_different,
  '[' || coalesce(string_agg(product_differences[2:-2], ',' ORDER BY lake) FILTER (product_differences <> '[]'), '') || ']' AS product_differences,
  sum(facets_compared)::BIGINT AS facets_compared,
  sum(facets_different)::BIGINT AS facets_different,
  '[' || coalesce(string_agg(facet_differences[2:-2], ',' ORDER BY lake) FILTER (facet_differences <> '[]'), '') || ']' AS facet_differences,
  '[' || coalesce(string_agg(schema_drift[2:-2], ',' ORDER BY lake) FILTER (schema_drift <> '[]'), '') || ']' AS schema_drift,
  CAST(getvariable('items') AS BIGINT) AS items,
  min(pricelake_version) AS pricelake_version,
  min(duckdb_version) AS duckdb_version
FROM newest
