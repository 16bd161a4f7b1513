-- Applies changes as a hand-written script would: writes the feed's changes as days of history, and rewrites the
-- affected partitions of items, with items that were read in full and with the newest price, time and listing state of
-- the others.
CREATE TEMP TABLE changes AS
SELECT
  id::BIGINT AS change_id, kind, "observedAt"::TIMESTAMPTZ AS observed_at,
  price::DECIMAL(18, 4) AS price, "previousPrice"::DECIMAL(18, 4) AS previous_price, changes::VARCHAR AS changes,
  item.id::BIGINT AS item_id, item.title AS title, item.url AS url, item.currency AS currency,
  item.site.id::BIGINT AS site_id, item.site.name AS site_name, item.site.host AS site_host
FROM read_json('$source', format = 'newline_delimited', columns = {
  id: 'VARCHAR', kind: 'VARCHAR', "observedAt": 'VARCHAR', price: 'VARCHAR', "previousPrice": 'VARCHAR',
  changes: 'JSON',
  item: 'STRUCT(id VARCHAR, title VARCHAR, url VARCHAR, currency VARCHAR, site STRUCT(id VARCHAR, name VARCHAR, host VARCHAR))'
});
COPY (SELECT *, observed_at::DATE AS observed_date FROM changes)
TO '$target/history' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (observed_date), WRITE_PARTITION_COLUMNS true);
CREATE TEMP TABLE newest AS
SELECT item_id, arg_max(price, change_id) AS price, arg_max(previous_price, change_id) AS previous_price,
  max(observed_at) AS observed_at, arg_max(kind, change_id) AS kind
FROM changes WHERE item_id IS NOT NULL GROUP BY item_id;
CREATE TEMP TABLE reread AS
SELECT * FROM typed_items('$reread')
QUALIFY row_number() OVER (PARTITION BY item_id ORDER BY last_changed_at DESC) = 1;
COPY (
  FROM reread
  UNION ALL BY NAME
  SELECT i.* REPLACE (
    CASE WHEN n.kind = 'CHANGED' THEN n.price ELSE i.price END AS price,
    coalesce(n.previous_price, i.previous_price) AS previous_price,
    coalesce(n.observed_at, i.last_changed_at) AS last_changed_at,
    CASE WHEN n.kind = 'REMOVED' THEN n.observed_at ELSE i.removed_at END AS removed_at,
    coalesce(n.kind <> 'REMOVED', i.is_listed) AS is_listed)
  FROM read_parquet('$items/*.parquet', hive_partitioning = false) AS i LEFT JOIN newest AS n USING (item_id)
  WHERE i.site_id IN (SELECT DISTINCT site_id FROM changes) AND i.item_id NOT IN (SELECT item_id FROM reread)
) TO '$target/items' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (site_id), WRITE_PARTITION_COLUMNS true);
