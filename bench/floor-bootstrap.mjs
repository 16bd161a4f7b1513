/**
 * The floor of a first copy: what a user would do by hand from the downloaded export. DuckDB alone, with its default
 * memory, the same typing, into the same partitioned zstd Parquet. No fsync, no checks, no derived tables, no commit.
 */
import { Database } from '../dist/duckdb/connection.js';
import { selectColumns } from '../dist/normalize/batch.js';
import { landedItemsSql } from '../dist/normalize/landed.js';
import { createMacros, readModel } from '../dist/normalize/model-sql.js';
import { detectShape } from '../dist/normalize/shape.js';

const [source, target] = process.argv.slice(2);
const db = await Database.open();
await db.run('SET preserve_insertion_order = false');
await createMacros(db);
await db.run("SET VARIABLE read_at = '2026-01-01T00:00:00Z'");
await db.run("SET VARIABLE run_id = 'floor'");
const landed = { path: source, layout: 'lines', marked: false, part: 'export' };
await db.run(`CREATE TEMP VIEW landed_items AS ${landedItemsSql(landed, detectShape(new Map()))}`);
await db.run(`COPY (SELECT ${selectColumns('items')} FROM (${readModel('items')})) TO '${target}'
  (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (site_id), WRITE_PARTITION_COLUMNS true)`);
db.close();
