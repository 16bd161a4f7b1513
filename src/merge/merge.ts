import type { DuckDBValue } from '@duckdb/node-api';
import type { Database } from '../duckdb/connection.js';
import { readModel } from '../duckdb/model-sql.js';
import { loadTableSchema } from '../tables/schemas.js';
import { FEW_ROWS, selectColumns } from './batch.js';
import type { Comparison } from './compare-rows.js';
import { findFilesWith, type ItemsFile, type LakeBase, listFiles, type MergeBase, readFiles } from './merge-base.js';

/** What merging did. */
export interface Merge {
  /** SQL of the rows to stage, or undefined when no row changes. */
  select: string | undefined;
  /** Published files that the staged ones replace. */
  replaced: ItemsFile[];
  /** Rows of the select at most, where that is known. */
  maxRows?: bigint;
  /** Items that get another row; undefined where all rows are new. */
  changed?: bigint;
}

/** Files of a partition that are below this size take new rows in; larger ones are left and a file is added. */
const SMALL_FILE_BYTES = 64 * 1024 * 1024;

/** Table `needed_items`: items that must be read whole, and since when they changed; undefined when there is none. */
export async function findNeeds(db: Database): Promise<{ itemIds: Set<bigint>; changedSince: string } | undefined> {
  await db.run(`CREATE OR REPLACE TABLE needed_items AS ${readModel('needs')}`);
  const read = 'needed_items WHERE NOT is_left';
  const since = await db.row(
    `SELECT strftime(coalesce(min(observed_at), to_timestamp(0)) - INTERVAL 1 MINUTE, '%Y-%m-%dT%H:%M:%S.%fZ') AS since FROM ${read} HAVING count(*) > 0`,
  );
  if (since === undefined || since.since === null) return undefined;
  const ids = await db.read(`SELECT item_id FROM ${read} ORDER BY item_id`);
  return {
    itemIds: new Set(ids.getColumns()[0] as DuckDBValue[] as bigint[]),
    changedSince: String(since.since),
  };
}

/**
 * Applies pending changes and whole reads to the merge base (design: apply). Table `merged_items` holds the touched rows,
 * and `items_before` the lake's rows of the same items; the select is what replaces `replaced`, or for a first run the
 * whole table.
 */
export async function mergeItems(db: Database, base: MergeBase, { gone }: Pick<Comparison, 'gone'>): Promise<Merge> {
  // No temporary table: lanes see it without a copy (src/duckdb/lanes.ts).
  await db.run(`CREATE OR REPLACE TABLE merged_items AS ${readModel('apply')}`);
  if (gone > 0n)
    await db.run('INSERT INTO merged_items BY NAME SELECT * FROM missing_items ANTI JOIN merged_items USING (item_id)');
  const counts = await db.row('SELECT count(*) AS n FROM merged_items');
  const columns = selectColumns('items');
  const merged = `SELECT ${columns} FROM merged_items`;
  const others = (rows: string) => `SELECT ${columns} FROM ${rows} ANTI JOIN merged_items USING (item_id)`;
  const hasNoRows = () => db.keepEmpty('items_before', loadTableSchema('items').columns);
  if (base.kind === 'first') {
    await hasNoRows();
    if (counts?.n === 0n) return { select: `SELECT ${columns} FROM base_items`, replaced: [] };
    return { select: `${others('base_items')} UNION ALL ${merged}`, replaced: [] };
  }
  const changed = counts?.n as bigint;
  if (changed === 0n && base.isRewritten !== true) {
    await hasNoRows();
    return { select: undefined, replaced: [], changed };
  }
  const replaced = base.isRewritten === true ? base.files : await chooseReplaced(db, base);
  // Kept rows of files go when others take the files' place.
  await db.define(
    changed <= FEW_ROWS || base.isKept ? 'table' : 'view',
    'items_before',
    `SELECT ${columns} FROM ${base.kind === 'lake' ? 'base_items' : readFiles(replaced, base)} SEMI JOIN merged_items USING (item_id)`,
  );
  const select = replaced.length === 0 ? merged : `${others(readFiles(replaced, base))} UNION ALL ${merged}`;
  return { select, replaced, changed, maxRows: replaced.reduce((sum, { rows }) => sum + rows, changed) };
}

/** Files with merged rows, and for partitions that only get new rows their smallest file, so that few stay small. */
async function chooseReplaced(db: Database, base: LakeBase): Promise<ItemsFile[]> {
  const { files } = base;
  const touched = new Set(
    base.kind === 'lake'
      ? await listFiles(db, base, 'base_places SEMI JOIN merged_items USING (item_id)')
      : await findFilesWith(db, base, 'item_id IN (SELECT item_id FROM merged_items)'),
  );
  const key = (file: ItemsFile) => JSON.stringify(file.partitionValues);
  const partitions = new Map<string, ItemsFile[]>();
  for (const file of files) partitions.set(key(file), [...(partitions.get(key(file)) ?? []), file]);
  for (const group of await partitionsOfNewRows(db, [...partitions.values()])) {
    if (group.some((file) => touched.has(file))) continue;
    const smallest = group.reduce((a, b) => (b.bytes < a.bytes ? b : a));
    if (smallest.bytes < SMALL_FILE_BYTES) touched.add(smallest);
  }
  return [...touched];
}

async function partitionsOfNewRows(db: Database, groups: ItemsFile[][]): Promise<ItemsFile[][]> {
  const names = Object.keys(groups[0]?.[0]?.partitionValues ?? {});
  if (names.length === 0) return groups;
  const rows = await db.read(
    `SELECT DISTINCT ${names.map((name) => `CAST("${name.replaceAll('"', '""')}" AS VARCHAR)`).join(', ')} FROM merged_items`,
  );
  const wanted = new Set(rows.getRows().map((row) => JSON.stringify(row)));
  return groups.filter((group) =>
    wanted.has(JSON.stringify(names.map((name) => group[0]?.partitionValues[name] ?? null))),
  );
}
