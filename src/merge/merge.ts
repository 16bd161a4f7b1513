import type { DuckDBValue } from '@duckdb/node-api';
import type { Database } from '../duckdb/connection.js';
import { readModel } from '../duckdb/model-sql.js';
import { loadTableSchema } from '../tables/schemas.js';
import { type DataFile, LAG_MS, type TableState } from '../tables/table.js';
import { tableRelation, toRelationFile } from '../tables/table-relation.js';
import { FEW_ROWS, selectColumns } from './batch.js';

/** A published file of items and where it stands. */
export interface ItemsFile extends DataFile {
  absolutePath: string;
}

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

/**
 * Where the rows so far are. `first`: whole rows make the lake. `lake`: the published files that hold touched items.
 * `poll`: the same, and whole rows of items that changed take their place. `reload`: as `poll`, with whole rows of all
 * items; what they lack is marked gone.
 */
export type MergeBase = { kind: 'first' } | LakeBase;

interface LakeBase extends Pick<TableState, 'hasOlderFiles'> {
  kind: 'lake' | 'poll' | 'reload';
  files: ItemsFile[];
  /** True where `items` is quickly read as a whole. */
  isSmall: boolean;
}

/**
 * Makes `base_items`: the rows so far of all items that may change. Needs `exported_items`, `pending_changes`, table
 * `different_items` (compareItems), and behind `renamed` the websites of `renamed_sites`.
 */
export async function createMergeBase(db: Database, base: MergeBase, renamed: 'unknown' | 'known'): Promise<void> {
  if (base.kind === 'first') return db.define('view', 'base_items', 'SELECT * FROM exported_items');
  const ids = `SELECT item_id FROM pending_changes WHERE item_id IS NOT NULL
    UNION SELECT item_id FROM different_items UNION SELECT item_id FROM stale_items
    UNION SELECT item_id FROM doubted_items`;
  const sites = renamed === 'known' ? ' OR site_id IN (SELECT site_id FROM renamed_sites)' : '';
  const select = await selectLakeBase(db, base, `item_id IN (${ids})${sites}`);
  if (base.kind === 'lake') return db.define(base.isSmall ? 'table' : 'view', 'base_items', select);
  const news = 'FROM exported_items SEMI JOIN different_items USING (item_id)';
  const different = await db.row('SELECT count(*) AS n FROM different_items');
  await db.define(
    base.isSmall && (different?.n as bigint) <= FEW_ROWS ? 'table' : 'view',
    'base_items',
    `SELECT ${selectColumns('items')} ${news} UNION ALL SELECT * FROM (${select}) ANTI JOIN (${news}) USING (item_id)`,
  );
}

async function selectLakeBase(db: Database, base: LakeBase, condition: string): Promise<string> {
  const columns = selectColumns('items');
  if (base.isSmall) return `SELECT ${columns} FROM items WHERE ${condition}`;
  const touched = await findFilesWith(db, base, condition);
  return `SELECT ${columns} FROM ${touched.length === 0 ? 'items WHERE false' : readFiles(touched, base)}`;
}

/** What whole rows showed that the lake did not. */
export interface Comparison {
  /** Items that have other values, and that no landed change shows. */
  differences: bigint;
  /** JSON text: by the name of a value, in how many of them it differs. */
  columns: string;
  /** Items that the lake lacked, and that no landed change shows. */
  missed: bigint;
  /** Items that a complete copy lacks. */
  gone: bigint;
  /** Items that it lacks and that may be in a dataset which can no longer be read: these stay as they are. */
  unreadable: bigint;
}

export interface ComparisonFacts {
  withFeed: boolean;
  /** Names of the datasets that the key can read; undefined where none that the lake is of is missing. */
  datasets: readonly string[] | undefined;
  /** Names of datasets that are new to the lake: their items are no news. */
  added: readonly string[];
  /** False when a row could not be typed: the item that it shows is not missing. */
  isReadWhole: boolean;
  /** Items that a poll has found to be no longer visible. */
  unlisted?: readonly bigint[];
}

export const NO_COMPARISON: Comparison = { differences: 0n, columns: '{}', missed: 0n, gone: 0n, unreadable: 0n };

/**
 * Compares whole rows with the lake: tables `different_items`, `diff_changes` (rows of history for what no change tells)
 * and for a complete copy `missing_items`, the lake's rows that it lacks, marked. Those of a dataset that can't be read
 * any more are left as they are: `datasets` names the readable ones.
 */
export async function compareItems(
  db: Database,
  base: MergeBase,
  { withFeed, datasets, added, isReadWhole, unlisted = [] }: ComparisonFacts,
): Promise<Comparison> {
  const isWhole = base.kind === 'reload' && isReadWhole;
  const isCompared = base.kind === 'poll' || base.kind === 'reload';
  await defineNoDifferences(db, isCompared);
  if (!isCompared && unlisted.length === 0) return NO_COMPARISON;
  if (isCompared) {
    await db.define('table', 'different_items', readModel('compare'));
    await db.run('SET VARIABLE with_feed = $1', [withFeed]);
    await db.run(`SET VARIABLE added_datasets = from_json($1, '["VARCHAR"]')`, [JSON.stringify(added)]);
    await db.define('table', 'mismatched_items', readModel('mismatches'));
    const mismatched = await db.row('SELECT count(*) AS n FROM mismatched_items');
    if (mismatched?.n === 0n) await db.defineEmpty('diff_changes', loadTableSchema('history').columns);
    else await db.define('table', 'diff_changes', readModel('diff'));
  }
  await db.run(`SET VARIABLE readable_datasets = from_json($1, '["VARCHAR"]')`, [JSON.stringify(datasets ?? null)]);
  if (isWhole || unlisted.length > 0) {
    const some = isWhole ? '' : ` WHERE item_id IN (${unlisted.join(', ')})`;
    await db.define('table', 'missing_items', `SELECT * FROM (${readModel('missing')})${some}`);
  }
  // A copy that lags lacks what came last: such items are read one by one before they are marked gone.
  if (isWhole)
    await db.define(
      'table',
      'doubted_items',
      `SELECT item_id, first_seen_at AS observed_at FROM missing_items
      WHERE first_seen_at > (SELECT max(last_changed_at) FROM exported_items) - INTERVAL ${LAG_MS} MILLISECOND`,
    );
  const counts = await db.row(`SELECT (SELECT count(*) FROM mismatched_items WHERE NOT is_new) AS differences,
    (SELECT count(*) FROM mismatched_items WHERE is_new) AS missed,
    (SELECT coalesce(CAST(json_group_object(name, n) AS VARCHAR), '{}') FROM (
      SELECT name, count(*) AS n FROM (SELECT unnest(differences) AS name FROM mismatched_items WHERE NOT is_new)
      GROUP BY name ORDER BY name)
    ) AS columns,
    (SELECT count(*) FROM missing_items) AS gone,
    ${isWhole ? '(SELECT count(*) FROM (FROM items WHERE gone_at IS NULL) ANTI JOIN exported_items USING (item_id))' : '0::BIGINT'} AS lacking`);
  return {
    differences: counts?.differences as bigint,
    missed: counts?.missed as bigint,
    columns: String(counts?.columns),
    gone: counts?.gone as bigint,
    unreadable: isWhole ? (counts?.lacking as bigint) - (counts?.gone as bigint) : 0n,
  };
}

const DIFFERENCE_COLUMNS = [
  { name: 'item_id', type: 'BIGINT' },
  { name: 'is_new', type: 'BOOLEAN' },
  { name: 'differences', type: 'VARCHAR[]' },
];

/** What a comparison leaves of what it does not do. */
async function defineNoDifferences(db: Database, isCompared: boolean): Promise<void> {
  if (!isCompared) {
    await db.defineEmpty('different_items', DIFFERENCE_COLUMNS);
    await db.defineEmpty('mismatched_items', DIFFERENCE_COLUMNS);
    await db.defineEmpty('diff_changes', loadTableSchema('history').columns);
  }
  await db.defineEmpty('missing_items', loadTableSchema('items').columns);
  await db.defineEmpty('doubted_items', [
    { name: 'item_id', type: 'BIGINT' },
    { name: 'observed_at', type: 'TIMESTAMP WITH TIME ZONE' },
  ]);
}

function readFiles(files: ItemsFile[], { hasOlderFiles }: LakeBase, more?: string): string {
  const relations = files.map((file) => toRelationFile(file, file.absolutePath));
  return tableRelation('items', relations, { hasOlderFiles, ...(more === undefined ? {} : { more }) });
}

async function findFilesWith(db: Database, base: LakeBase, condition: string): Promise<ItemsFile[]> {
  const { files } = base;
  if (files.length === 0) return [];
  const rows = await db.rows(
    `SELECT DISTINCT filename FROM ${readFiles(files, base, 'filename = true')} WHERE ${condition}`,
  );
  const names = new Set(rows.map((row) => row.filename));
  return files.filter((file) => names.has(file.absolutePath));
}

/** Table `needed_items`: items that must be read whole, and since when they changed; undefined when there is none. */
export async function findNeeds(db: Database): Promise<{ itemIds: Set<bigint>; changedSince: string } | undefined> {
  await db.run(`CREATE OR REPLACE TEMP TABLE needed_items AS ${readModel('needs')}`);
  const since = await db.row(
    "SELECT strftime(coalesce(min(observed_at), to_timestamp(0)) - INTERVAL 1 MINUTE, '%Y-%m-%dT%H:%M:%S.%fZ') AS since FROM needed_items HAVING count(*) > 0",
  );
  if (since === undefined || since.since === null) return undefined;
  const ids = await db.connection.runAndReadAll('SELECT item_id FROM needed_items ORDER BY item_id');
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
  await db.run(`CREATE OR REPLACE TEMP TABLE merged_items AS ${readModel('apply')}`);
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
  if (changed === 0n) {
    await hasNoRows();
    return { select: undefined, replaced: [], changed };
  }
  const replaced = await chooseReplaced(db, base);
  await db.define(
    changed <= FEW_ROWS ? 'table' : 'view',
    'items_before',
    `SELECT ${columns} FROM ${readFiles(replaced, base)} SEMI JOIN merged_items USING (item_id)`,
  );
  const select = replaced.length === 0 ? merged : `${others(readFiles(replaced, base))} UNION ALL ${merged}`;
  return { select, replaced, changed, maxRows: replaced.reduce((sum, { rows }) => sum + rows, changed) };
}

/** Files with merged rows, and for partitions that only get new rows their smallest file, so that few stay small. */
async function chooseReplaced(db: Database, base: LakeBase): Promise<ItemsFile[]> {
  const { files } = base;
  const touched = new Set(await findFilesWith(db, base, 'item_id IN (SELECT item_id FROM merged_items)'));
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
  const rows = await db.connection.runAndReadAll(
    `SELECT DISTINCT ${names.map((name) => `CAST("${name.replaceAll('"', '""')}" AS VARCHAR)`).join(', ')} FROM merged_items`,
  );
  const wanted = new Set(rows.getRows().map((row) => JSON.stringify(row)));
  return groups.filter((group) =>
    wanted.has(JSON.stringify(names.map((name) => group[0]?.partitionValues[name] ?? null))),
  );
}
