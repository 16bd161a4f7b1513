/** A first copy with values that are hard to type, and its rows: the same landing can be synced in several ways. */
import { cpSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { landPipeline } from '../../src/run/land-pipeline.js';
import { harden } from '../interop/hard-rows.js';
import { readLakes, testIo, type World } from '../run/world.js';

/** Lands a copy whose exports have values that are hard to type, and gives a copy of that lake. */
export async function landHardRows(world: World, format: 'ndjson' | 'csv'): Promise<string> {
  world.pipeline.source.export = format;
  const { folder } = await landPipeline(world.pipeline, testIo);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const segments = names.filter((name) => name.includes('export') && name.endsWith(`.${format}`));
  if (segments.length === 0) throw new Error(`${folder} has no segment of an export`);
  for (const name of segments) harden(path.join(folder, name));
  const copy = `${world.lakePath}-landed`;
  cpSync(world.lakePath, copy, { recursive: true });
  return copy;
}

export const TABLES = [
  ...['items', 'history', 'sites', 'sources', 'rejects', 'stale_items', 'products', 'product_prices'],
  ...['shop_currencies', 'offers', 'price_spread', 'matches', 'price_spread_daily'],
];
/** Times of the run itself, which another run of the same landing has not. */
export const DATED = [
  'valid_from',
  'valid_to',
  'rejected_at',
  'first_read_at',
  'read_at',
  'clock_at',
  'since',
  'gone_at',
];

/** Every row, with the names of its columns in the files' order. */
export async function readRows(lakePath: string): Promise<Record<string, string[]>> {
  const texts = await readLakes(
    lakePath,
    TABLES.map(
      (table) => (glob) =>
        `SELECT CAST(to_json(t) AS VARCHAR) FROM (SELECT COLUMNS(c -> NOT list_contains([${DATED.map((name) => `'${name}'`).join()}], c)) FROM ${glob(table)}) AS t ORDER BY 1`,
    ),
  );
  return Object.fromEntries(TABLES.map((table, at) => [table, (texts[at] ?? []).map(([text]) => String(text))]));
}
