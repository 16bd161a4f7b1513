/** Tables of a lake as text, for comparisons: read by plain glob, as anyone would. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { Database } from '../../src/sql/connection.js';

export type TextRow = Record<string, string | null>;

export interface LakeRows {
  items: TextRow[];
  history: TextRow[];
  sites: TextRow[];
  datasets: TextRow[];
  products: TextRow[];
  runs: TextRow[];
  stale_items: TextRow[];
  /** Column `day` of price_spread_daily. */
  days: TextRow[];
}

const TIMES = new Set([
  'price_changed_at',
  'first_seen_at',
  'last_seen_at',
  'last_changed_at',
  'removed_at',
  'observed_at',
  'valid_from',
  'valid_to',
  'newest_scrape_at',
  'oldest_scrape_at',
]);

/** Every column as text: times as microseconds since 1970, lists as JSON, else as DuckDB prints it. */
export async function readLakeRows(lakePath: string): Promise<LakeRows> {
  const db = await Database.open();
  try {
    const read = (table: string, order: string) => readTable(db, lakePath, table, order);
    return {
      items: await read('items', 'stored.item_id'),
      history: await read('history', 'stored.change_id'),
      sites: await read('sites', 'stored.site_id, stored.valid_from'),
      datasets: await read('datasets', 'stored.dataset_id'),
      products: await read('products', 'stored.product_id'),
      runs: await read('runs', 'stored.run_number'),
      stale_items: await read('stale_items', 'stored.item_id'),
      days: await read('price_spread_daily', 'stored.day'),
    };
  } finally {
    await db.close();
  }
}

async function readTable(db: Database, lakePath: string, table: string, order: string): Promise<TextRow[]> {
  const folder = path.join(lakePath, table);
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  if (!names.some((name) => name.endsWith('.parquet') && !name.includes('_delta_log'))) return [];
  const source = `read_parquet('${folder}/*.parquet', hive_partitioning = false)`;
  const columns = (await db.rows(`DESCRIBE SELECT * FROM ${source}`)).map(({ column_name: name }) => String(name));
  const texts = columns.map((name) => {
    if (TIMES.has(name)) return `CAST(epoch_us("${name}") AS VARCHAR) AS "${name}"`;
    return `CAST(${name === 'datasets' ? 'to_json(datasets)' : `"${name}"`} AS VARCHAR) AS "${name}"`;
  });
  return (await db
    .rows(`SELECT ${texts.join(', ')} FROM ${source} AS stored ORDER BY ${order}`)
    .catch((error: unknown) => {
      throw new Error(`${table}: ${String(error)}`);
    })) as TextRow[];
}
