/**
 * The floor of applying changes: DuckDB alone types the same landed rows (changes, and items read whole), writes the
 * day of history, and rewrites the touched partitions with the newest row of each item. No apply rules beyond that,
 * no fsync, no checks, no derived tables, no commit.
 */
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Database } from '../dist/duckdb/connection.js';
import { selectColumns } from '../dist/normalize/batch.js';
import { landedChangesSql, landedItemsSql } from '../dist/normalize/landed.js';
import { createMacros, readModel } from '../dist/normalize/model-sql.js';
import { detectShape } from '../dist/normalize/shape.js';

const [feed, hydrated, items, target] = process.argv.slice(2);
const db = await Database.open();
await db.run('SET preserve_insertion_order = false');
await createMacros(db);
await db.run("SET VARIABLE read_at = '2026-01-01T00:00:00Z'");
await db.run("SET VARIABLE run_id = 'floor'");
const lines = (path) => ({ path, layout: 'lines', marked: false, part: 'part' });
await db.run(`CREATE TEMP VIEW landed_changes AS ${landedChangesSql(lines(feed))}`);
await db.run(`CREATE TEMP TABLE changes AS SELECT ${selectColumns('history')} FROM (${readModel('history')})`);
await db.run(`COPY changes TO '${target}/history'
  (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (observed_date), WRITE_PARTITION_COLUMNS true)`);
const old = `read_parquet('${items}/site_id=*/*.parquet', hive_partitioning = false)`;
await db.run(`CREATE TEMP TABLE reread AS SELECT ${selectColumns('items')} FROM ${old} WHERE false`);
if (readdirSync(dirname(hydrated)).some((name) => name.startsWith('hydrate-'))) {
  await db.run(`CREATE TEMP VIEW landed_items AS ${landedItemsSql(lines(hydrated), detectShape(new Map()))}`);
  await db.run(`INSERT INTO reread SELECT ${selectColumns('items')} FROM (${readModel('items')})
    QUALIFY row_number() OVER (PARTITION BY item_id ORDER BY last_changed_at DESC) = 1`);
}
await db.run(`CREATE TEMP TABLE told AS
  SELECT item_id, arg_max(price, change_id) AS price, arg_max(previous_price, change_id) AS previous_price,
    max(observed_at) AS observed_at, arg_max(kind, change_id) AS kind, max(change_id) AS change_id, any_value(site_id) AS site_id
  FROM changes WHERE item_id IS NOT NULL GROUP BY item_id`);
await db.run(`COPY (
    SELECT * FROM reread
    UNION ALL
    SELECT i.* REPLACE (
      CASE WHEN t.kind = 'CHANGED' THEN t.price ELSE i.price END AS price,
      coalesce(t.previous_price, i.previous_price) AS previous_price,
      coalesce(t.observed_at, i.last_changed_at) AS last_changed_at,
      CASE WHEN t.kind = 'REMOVED' THEN t.observed_at ELSE i.removed_at END AS removed_at,
      coalesce(t.kind <> 'REMOVED', i.is_listed) AS is_listed,
      coalesce(t.change_id, i.change_id) AS change_id)
    FROM ${old} AS i LEFT JOIN told AS t USING (item_id)
    WHERE i.site_id IN (SELECT DISTINCT site_id FROM changes) AND i.item_id NOT IN (SELECT item_id FROM reread)
  ) TO '${target}/items' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (site_id), WRITE_PARTITION_COLUMNS true)`);
db.close();
