/** Tables of a lake as text, for comparisons: read by plain glob, as anyone would. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { Database } from '../../src/sql/connection.js';

export type TextRow = Record<string, string | null>;

/** Tables that are compared, and the order of their rows. */
const TABLES = {
  items: 'stored.item_id',
  history: 'stored.change_id',
  sites: 'stored.site_id, stored.valid_from',
  datasets: 'stored.dataset_id',
  products: 'stored.product_id',
  runs: 'stored.run_number',
  stale_items: 'stored.item_id',
  price_spread_daily: 'stored.day',
};
export type LakeRows = Record<keyof typeof TABLES, TextRow[]>;

/** Every column as text: times as microseconds since 1970, lists as JSON, else as DuckDB prints it. */
export async function readLakeRows(lakePath: string): Promise<LakeRows> {
  const db = await Database.open();
  try {
    const rows: Partial<LakeRows> = {};
    for (const [table, order] of Object.entries(TABLES)) {
      rows[table as keyof LakeRows] = await readTable(db, lakePath, table, order);
    }
    return rows as LakeRows;
  } finally {
    await db.close();
  }
}

async function readTable(db: Database, lakePath: string, table: string, order: string): Promise<TextRow[]> {
  const folder = path.join(lakePath, table);
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  if (!names.some((name) => name.endsWith('.parquet') && !name.includes('_delta_log'))) return [];
  const source = `read_parquet('${folder}/*.parquet', hive_partitioning = false)`;
  const columns = await db.rows(`DESCRIBE SELECT * FROM ${source}`);
  const texts = columns.map(({ column_name: name, column_type: type }) => {
    const column = type === 'TIMESTAMP WITH TIME ZONE' ? `epoch_us("${name}")` : `"${name}"`;
    const value = String(type).endsWith('[]') ? `to_json(${column})` : column;
    return `CAST(${value} AS VARCHAR) AS "${name}"`;
  });
  return (await db
    .rows(`SELECT ${texts.join(', ')} FROM ${source} AS stored ORDER BY ${order}`)
    .catch((error: unknown) => {
      throw new Error(`${table}: ${String(error)}`);
    })) as TextRow[];
}
